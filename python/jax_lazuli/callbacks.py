"""Python functions that compiled programs call: jax.pure_callback, io_callback, jax.debug.print and what else JAX lowers to them.

A program calls them all by one name (TARGET), with a number as its text; `known` says which function the number is of. The library
has one entry for them (pjrt/host_call.h, an extension of PJRT's C API) and calls `serve` in its own threads or in the one that
executes the program. Uses nothing of JAX but its public functions.
"""
import atexit
import contextlib
import ctypes
import itertools
import logging
import weakref

import jax
import numpy as np

log = logging.getLogger(__name__)

TARGET = "lazuli_python_callback"
EXTENSION = 0x4C5A0001
OK, NOT_FOUND, INTERNAL = 0, 5, 13  # absl's codes
END_MS = 2000  # what a function that runs when the interpreter ends may still take: nobody sees its results


# ---- the library's structs ----

class Call(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("target", ctypes.c_char_p), ("backend_config", ctypes.c_char_p),
                ("num_args", ctypes.c_size_t), ("num_rets", ctypes.c_size_t),
                ("args", ctypes.POINTER(ctypes.c_void_p)), ("arg_sizes", ctypes.POINTER(ctypes.c_size_t)),
                ("rets", ctypes.POINTER(ctypes.c_void_p)), ("ret_sizes", ctypes.POINTER(ctypes.c_size_t)),
                ("message", ctypes.c_void_p), ("message_size", ctypes.c_size_t)]


Function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(Call), ctypes.c_void_p)  # takes the GIL when it is called


class Base(ctypes.Structure):
    pass


Base._fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int32), ("next", ctypes.POINTER(Base))]


class Extension(ctypes.Structure):
    _fields_ = [("base", Base),
                ("register_function", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, Function, ctypes.c_void_p)),
                ("close", ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_int64))]


class Api(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.POINTER(Base))]


def extension(path):
    """That of the library, or None: it is another version."""
    library = ctypes.CDLL(path)
    library.GetPjrtApi.restype = ctypes.POINTER(Api)
    at = library.GetPjrtApi().contents.extension_start
    while at:
        if at.contents.type == EXTENSION and at.contents.struct_size >= ctypes.sizeof(Extension):
            return ctypes.cast(at, ctypes.POINTER(Extension)).contents
        at = at.contents.next
    return None


# ---- the functions ----

numbers = itertools.count()
known = weakref.WeakValueDictionary()


class Callback:
    """A function that takes and gives lists of arrays, as one program calls it. Whoever has the program keeps it."""

    def __init__(self, function, args, rets):
        """args, rets: a shape and a dtype for each array."""
        self.function, self.args, self.rets = function, args, rets
        self.x64 = jax.dtypes.canonicalize_dtype(np.int64) == np.int64  # of the thread that compiles
        self.number = next(numbers)
        known[self.number] = self

    def __call__(self, *args):
        with jax.enable_x64(self.x64) if hasattr(jax, "enable_x64") else contextlib.nullcontext():
            return self.checked(self.function(*args))

    def checked(self, given):
        """What the function gave, as arrays of the types that the program has for them."""
        if len(given) != len(self.rets):
            raise RuntimeError(f"Mismatched number of outputs from callback. Expected: {len(self.rets)}, Actual: {len(given)}")
        arrays = []
        for i, (value, (shape, dtype)) in enumerate(zip(given, self.rets)):
            a = np.asarray(value)
            if a.dtype != dtype:
                a = a.astype(jax.dtypes.canonicalize_dtype(a.dtype))  # Python's numbers
            if a.shape != shape:
                raise RuntimeError(f"Incorrect output shape for return value #{i}: Expected: {shape}, Actual: {a.shape}")
            if a.dtype != dtype:
                raise RuntimeError(f"Incorrect output dtype for return value #{i}: Expected: {dtype}, Actual: {a.dtype}")
            arrays.append(a)
        return arrays


def dtype_of(dtype):
    """That of the program's arrays: float0, which has no numbers, is bool."""
    return np.dtype(bool) if dtype == jax.dtypes.float0 else np.dtype(dtype)


def array_at(address, size, shape, dtype):
    """The library's memory."""
    if size != dtype.itemsize * int(np.prod(shape, dtype=np.int64)):
        raise RuntimeError(f"{size} bytes for {dtype}{list(shape)}")
    if size == 0:
        return np.empty(shape, dtype)
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape)


def answer(call):
    """Does what the program asks for."""
    callback = known.get(int(call.backend_config))
    if callback is None:
        fail(call, "the function is not one of this process, or its program has been freed")
        return NOT_FOUND
    if call.num_args != len(callback.args) or call.num_rets != len(callback.rets):
        raise RuntimeError(f"called with {call.num_args} arrays for {call.num_rets}")
    # copies: the function may keep what it gets
    args = [array_at(call.args[i], call.arg_sizes[i], *callback.args[i]).copy() for i in range(call.num_args)]
    rets = callback(*args)
    for i, value in enumerate(rets):
        array_at(call.rets[i], call.ret_sizes[i], *callback.rets[i])[...] = value
    return OK


def fail(call, text):
    """What the program's error says."""
    text = text.encode("utf-8", "replace")[:call.message_size - 1].decode("utf-8", "ignore").encode()
    ctypes.memmove(call.message, text + b"\0", len(text) + 1)


def serve(call, user):
    """Called by the library. An exception is the program's error, and never leaves."""
    try:
        try:
            return answer(call.contents)
        except BaseException as e:
            fail(call.contents, f"{type(e).__name__}: {e}")
    except BaseException:  # of the exception's own text
        fail(call.contents, "the function raised an exception")
    return INTERNAL


# ---- once a process ----

class Library:
    entry = None  # the function that the library calls
    close = None


def open_library(path):
    """Before the first program with a callback is compiled."""
    if Library.entry is not None:
        return
    found = extension(path)
    if found is None:
        raise NotImplementedError(f"{path} calls no Python functions")
    entry = Function(serve)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(entry))  # the library calls it as long as the process lasts
    if found.register_function(TARGET.encode(), entry, None) != OK:
        raise RuntimeError(f"{path} has registered no function")
    Library.entry, Library.close = entry, found.close
    atexit.register(end)


def end():
    """Before the interpreter ends, while other threads can still take the GIL: afterwards the library calls nothing."""
    try:
        jax.effects_barrier()
    except Exception:  # JAX asks once more, and says it
        log.debug("a program failed", exc_info=True)
    Library.close(END_MS)
