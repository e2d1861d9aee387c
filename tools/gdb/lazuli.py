"""gdb commands and printers for Lazuli.

    (gdb) source tools/gdb/lazuli.py
    lznode HANDLE     what a lz_tensor * names: operation, type, operands, where it was recorded; also takes a lz_node *
    lzfunc FUNC       a lz_func * as StableHLO text
    lzkernel KERNEL   a lz_kernel * as loop IR text

lzfunc and lzkernel call the library's own printers in the process. Where nothing can be called, as in a core file, they print
what the structs say: instructions with their types, loops and buffers. lznode only reads memory, so it works everywhere.
(gdb 13 cannot call functions on processors with AMX: "Couldn't write extended state status". Through gdbserver it can.)
Values of type lz_tensor *, lz_tensor (print *x), lz_node *, lz_type * and lz_shape are printed as text by `print` and in backtraces.
The library needs its debug information, which `make` leaves in.
"""
import gdb

CHUNK_BITS = 10  # LZ_SLOT_CHUNK_BITS
MAX_OPERANDS = 32
MAX_RANK = 16  # LZ_MAX_RANK

# ---- reading structs ----


def plain(v):
    """The value of an _Atomic member as one of the type below it."""
    t = v.type.strip_typedefs()
    return v.cast(t.unqualified()) if t.code == gdb.TYPE_CODE_INT else v


def word(v, prefix):
    """LZ_OP_DOT_GENERAL as dot_general."""
    s = str(v)
    return s[len(prefix):].lower() if s.startswith(prefix) else s


def dims(shape):
    rank = int(shape['rank'])
    return '[%s]' % ','.join(str(int(shape['dims'][i])) for i in range(rank)) if 0 <= rank <= MAX_RANK else '[rank %d]' % rank


def type_text(t):
    return word(t['dtype'], 'LZ_') + dims(t['shape']) if int(t) else 'no type'


def string(p, default=''):
    return p.string(errors='replace') if int(p) else default


def attr_text(sig):
    """Which kind of attribute a signature has; "" without one."""
    kind = word(sig['attr']['kind'], 'LZ_ATTR_') if int(sig['attr']) else 'none'
    return '' if kind == 'none' else kind


def site_text(site):
    return ' at %s:%d' % (string(site['file']), int(site['line'])) if int(site) else ''


def deref(v, name):
    """v, a pointer to struct `name` or the struct itself, as a pointer."""
    if v.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        return v.address
    return v.cast(gdb.lookup_type(name).pointer())


# ---- handles and nodes ----


def slot_of(handle):
    """(slot, None), or (None, why not). A handle is generation << 32 | index."""
    index, generation = handle & 0xffffffff, handle >> 32
    chunks = gdb.parse_and_eval('lz_slot_chunks')
    low, high = chunks.type.range()
    if index >> CHUNK_BITS > high:
        return None, 'no handle: index %d' % index
    chunk = chunks[index >> CHUNK_BITS].cast(gdb.lookup_type('lz_slot').pointer())
    if not int(chunk):
        return None, 'no handle: index %d was never given' % index
    slot = chunk + (index & ((1 << CHUNK_BITS) - 1))
    state = int(plain(slot['state']))
    if state >> 32 != generation or state & 0x7fffffff == 0:
        return None, 'stale handle: generation %d, the slot is at %d' % (generation, state >> 32)
    return slot, None


def node_ptr(v):
    return v.cast(gdb.lookup_type('lz_node').pointer())


def node_text(n):
    """One line: #id op type, what it is, where it was recorded."""
    kind = word(n['kind'].cast(gdb.lookup_type('lz_node_kind')), 'LZ_NODE_')
    sig = n['sig']
    what = word(sig['op'], 'LZ_OP_') if kind == 'op' else kind
    scope = string(n['scope'])
    return '#%d %s %s%s%s%s' % (int(n['id']), what, type_text(sig['result'][0]),
                                ' in device memory' if int(node_buf(n)) else '', site_text(n['site']),
                                ' in ' + scope if scope else '')


def node_buf(n):
    return n['buf'].cast(gdb.lookup_type('lz_device_buffer').pointer())


def handle_text(handle):
    if not handle:
        return 'NULL'
    slot, why = slot_of(handle)
    if why:
        return why
    node = node_ptr(slot['node'])
    if int(node):
        return node_text(node)
    if int(slot['err']):
        e = slot['err']['error']
        return 'error tensor: %s: %s' % (e['status'], e['message'].string(errors='replace'))
    return 'value dropped by a step: %s %s' % (type_text(slot['type']), site_text(slot['site'].cast(
        gdb.lookup_type('lz_site').pointer())))


class LzNode(gdb.Command):
    """lznode HANDLE: the operation, type and operands behind a lz_tensor * (or a lz_node *)."""

    def __init__(self):
        super().__init__('lznode', gdb.COMMAND_DATA)

    def invoke(self, arg, from_tty):
        v = gdb.parse_and_eval(arg)
        t = v.type.strip_typedefs()
        of_node = t.code == gdb.TYPE_CODE_PTR and t.target().unqualified().name in ('lz_node', 'struct lz_node')
        if not of_node:
            handle = int(v) & 0xffffffffffffffff
            print(handle_text(handle))
            slot, why = slot_of(handle) if handle else (None, 'NULL')
            if why:
                return
            state = int(plain(slot['state']))
            print('  handle  index %d, generation %d, %d references%s' % (
                handle & 0xffffffff, handle >> 32, state & 0x7fffffff, ', of a scope' if state & 0x80000000 else ''))
            v = node_ptr(slot['node'])
            if not int(v):
                return
        else:
            print(node_text(v))
        self.details(node_ptr(v))

    def details(self, n):
        print('  device  %s' % n['dev']['name'].string())
        if attr_text(n['sig']):
            print('  attr    %s' % attr_text(n['sig']))
        count = int(n['sig']['nopnd'])
        if count and not int(n['opnd']):
            print('  operands were cut by a step')
            return
        for i in range(min(count, MAX_OPERANDS)):
            print('  opnd %d  %s' % (i, node_text(node_ptr(n['opnd'][i]))))
        if count > MAX_OPERANDS:
            print('  and %d more' % (count - MAX_OPERANDS))


# ---- functions and kernels ----


def call_printer(call):
    """The text that a printer of the library writes into a lz_buf; `call` has %s where that goes. None without a process."""
    try:
        buf = int(gdb.parse_and_eval('((void *(*)(unsigned long, unsigned long))calloc)(1, sizeof(lz_buf))'))
    except gdb.error:
        return None
    if not buf:
        return None
    at = '(lz_buf *)%d' % buf
    try:
        gdb.parse_and_eval(call % at)
        return string(gdb.parse_and_eval('lz_buf_str(%s)' % at).cast(gdb.lookup_type('char').pointer()))
    finally:
        gdb.parse_and_eval('(void)lz_buf_free(%s)' % at)
        gdb.parse_and_eval('((void (*)(void *))free)((void *)%d)' % buf)


def func_walk(f):
    lines = ['func @%s {' % f['name'].string(errors='replace')]
    for i in range(int(f['ninst'])):
        inst = f['insts'][i]
        sig = inst['sig']
        operands = ', '.join('%%%d' % int(inst['opnd'][k]) for k in range(int(sig['nopnd'])))
        attr = ' {%s}' % attr_text(sig) if attr_text(sig) else ''
        lines.append('  %%%d = %s(%s)%s : %s%s' % (i, word(sig['op'], 'LZ_OP_'), operands, attr,
                                                 type_text(sig['result'][0]), site_text(inst['site'])))
    lines.append('  return ' + ', '.join('%%%d' % int(f['results'][i]) for i in range(int(f['nresult']))))
    return '\n'.join(lines + ['}'])


def sizes(array, n):
    """Extents of loops; one that is a run-time size is followed by its number."""
    def one(v):
        return '%d' % int(v['v']) if int(v['slot']) < 0 else '%d (size %d)' % (int(v['v']), int(v['slot']))
    return '[%s]' % ', '.join(one(array[i]) for i in range(n))


def kernel_walk(k):
    lines = ['kernel "%s" %s %s {' % (k['name'].string(errors='replace'), word(k['vec'], 'LZ_VEC_'),
                                      'serial' if int(k['serial']) else 'parallel')]
    for i in range(int(k['nbuf'])):
        b = k['buf'][i]
        lines.append('  buf %d: %s%s%s' % (i, word(b['dtype'], 'LZ_'), ' read' if int(b['read']) else '',
                                           ' write' if int(b['written']) else ''))
    lines.append('  outer %s' % sizes(k['outer'], int(k['nouter'])))
    for i in range(int(k['nstage'])):
        s = k['stages'][i]
        lines.append('  stage %d: inner %s, %d loads, %d reductions, %d stores' % (
            i, sizes(s['extent'], int(s['ninner'])), int(s['nacc']), int(s['nred']), int(s['nstore'])))
        for n in range(int(s['nsop'])):
            op = s['sops'][n]
            kind = word(op['kind'], 'LZ_S_')
            lines.append('    %%%d = %s %s(%d, %d, %d)' % (
                n, word(op['dtype'], 'LZ_'), word(op['op'], 'LZ_OP_') if kind == 'ew' else kind, int(op['a']),
                int(op['b']), int(op['c'])))
    return '\n'.join(lines + ['}'])


class Printed(gdb.Command):
    """A command that prints a struct by the library's printer, or by what it holds."""

    def __init__(self, name, struct, call, walk, doc):
        self.__doc__ = doc
        self.struct, self.call, self.walk, self.command = struct, call, walk, name
        super().__init__(name, gdb.COMMAND_DATA)

    def invoke(self, arg, from_tty):
        if not arg:
            raise gdb.GdbError('%s: of what? Give a %s *' % (self.command, self.struct))
        v = deref(gdb.parse_and_eval(arg), self.struct)
        if not int(v):
            print('NULL')
            return
        text = call_printer(self.call % {'v': int(v), 'buf': '%s'})
        if text is None:
            print('(read from memory; the process cannot be called)')
        print(text.rstrip('\n') if text is not None else self.walk(v))


# ---- printers of values ----


class Text:
    """A pretty printer that gives one line; the address stays before it."""

    def __init__(self, v, render):
        self.v, self.render = v, render

    def to_string(self):
        try:
            text = self.render(self.v)
        except (gdb.error, gdb.MemoryError, RuntimeError) as e:
            text = 'unreadable: %s' % e
        return text if self.v.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT else '0x%x %s' % (int(self.v), text)


def named(v, name):
    return v.cast(gdb.lookup_type(name).pointer())


POINTERS = {
    'lz_tensor': lambda v: handle_text(int(v) & 0xffffffffffffffff),
    'lz_node': lambda v: node_text(named(v, 'lz_node')),
    'lz_type': lambda v: type_text(named(v, 'lz_type')),
}


def lookup(v):
    t = v.type.strip_typedefs()
    if t.code == gdb.TYPE_CODE_STRUCT and t.unqualified().name == 'lz_shape':
        return Text(v, dims)
    if t.code == gdb.TYPE_CODE_STRUCT and t.unqualified().name == 'lz_tensor' and v.address is not None:
        return Text(v, lambda v: handle_text(int(v.address) & 0xffffffffffffffff))  # print *x: the address is the handle
    if t.code == gdb.TYPE_CODE_PTR:
        name = t.target().strip_typedefs().unqualified().name
        if name in POINTERS and int(v):
            return Text(v, POINTERS[name])
    return None


lookup.__name__ = 'lazuli'

LzNode()
Printed('lzfunc', 'lz_func', '(void)lz_func_print((lz_func *)%(v)d, %(buf)s, 2)', func_walk,
        'lzfunc FUNC: a lz_func * as StableHLO text; constants of more than 64 elements are left out.')
Printed('lzkernel', 'lz_kernel', '(void)lz_kernel_print((lz_kernel *)%(v)d, %(buf)s)', kernel_walk,
        'lzkernel KERNEL: a lz_kernel * as loop IR text.')
gdb.pretty_printers[:] = [p for p in gdb.pretty_printers if getattr(p, '__name__', '') != 'lazuli']
gdb.pretty_printers.append(lookup)
