# shellcheck shell=bash
# numbers.bash - what the scripts of test/api share that draw numbers for the arguments of public functions: sourced after prototypes.bash.
# Writes $tmp/structs and $tmp/enums, and $tmp/fill.h, which fills every struct of options; sets `shared` and `extreme`, text for
# generate: extreme(p) is an argument for a parameter p, made of NUMBER, LESS (numbers that say how much memory the caller gives: never
# more than there is), REAL and FLAG. The program defines these, includes test/api/numbers.h, and then fill.h.
# shellcheck disable=SC2154  # tmp and CC are those of prototypes.bash
export tmp

# The structs whose fields may be set: one a line, name<TAB>fields; and the enumerations.
for h in include/lazuli/*.h; do echo "#include <lazuli/${h##*/}>"; done | $CC -E -P -Iinclude -xc - | tr '\n' ' ' >"$tmp/headers"
grep -oE 'typedef struct lz_[a-z0-9_]+ \{[^}]*\} lz_[a-z0-9_]+' "$tmp/headers" |
    sed -E 's/^typedef struct (lz_[a-z0-9_]+) \{(.*)\}.*/\1\t\2/' | grep -vE '^lz_(site|ffi_|error_info|params|memory|allocator|metric|device_plugin|plugin_option)' >"$tmp/structs"
grep -oE 'typedef enum lz_[a-z0-9_]+ \{[^}]*\} lz_[a-z0-9_]+' "$tmp/headers" | sed -E 's/.*\} //' >"$tmp/enums"

# shellcheck disable=SC2034  # for the scripts
shared='
function usual(name) { return name ~ /size|stride|dilation|groups|kernel|batch|n_fft|input|hidden|directions|dim$|heads|workers|shards|layers|vocab|features|channels|width|height|rows|cols/ ? 1 : 0 }
# A number of type t; n is its name. What it is now, if that is something, is a usual one.
function number(t, n, small, now) {
    if (small) return "LESS(" t ", 1)"
    if (t ~ /^(_Bool|bool)$/) return "FLAG()"
    now = now == "" ? "" : now " ? " now " : "
    if (t in enums) return "NUMBER(" t ", " now "0)"
    if (t == "double" || t == "float") return "REAL(" now "0.5)"
    if (t == "lz_dtype") return "NUMBER(lz_dtype, " now "LZ_F32)"
    return "NUMBER(" t ", " now usual(n) ")"
}
BEGIN {
    while ((getline line <(ENVIRON["tmp"] "/enums")) > 0) enums[line] = 1
    while ((getline line <(ENVIRON["tmp"] "/structs")) > 0) { split(line, part, "\t"); structs[part[1]] = part[2] }
}'

# fill_STRUCT(s): the fields of a struct. new_STRUCT(): two of them, as lists have up to two members.
awk -F'\t' "$shared"'
{
    printf "static void fill_%s(%s *s)\n{\n    (void)s;\n", $1, $1
    m = split($2, field, ";")
    for (i = 1; i <= m; i++) {
        f = field[i]; gsub(/^ +| +$/, "", f); gsub(/ +/, " ", f)
        if (f ~ /^lz_params \*params$/) print "    s->params = &params;"
        if (f ~ /^const char \*interpolation$/) print "    s->interpolation = \"linear\";"
        if (f == "" || f ~ /\*|struct_size|\(/) continue
        type = f; sub(/ .*/, "", type); sub(/^[^ ]+ /, "", f)
        k = split(f, names, /, */)
        for (j = 1; j <= k; j++) {
            count = names[j] ~ /\[/ ? names[j] : ""; name = names[j]; sub(/\[.*/, "", name)
            gsub(/.*\[|\]/, "", count)
            if (name == "capacity" || name == "length" && $1 == "lz_kv_cache") continue
            if (count != "") printf "    for (int i = 0; i < (int)(%s); i++)\n", "SOME(" count ")"
            at = "s->" name (count != "" ? "[i]" : "")
            indent = count != "" ? "        " : "    "
            if (type in structs) printf "%sfill_%s(&%s);\n", indent, type, at
            else printf "%s%s = %s;\n", indent, at, number(type, name, 0, at)
        }
    }
    print "}"
    printf "__attribute__((unused)) static %s *new_%s(void)\n{\n    VALUES_OWN %s two[DEPTHS][2];\n    %s *s = two[DEPTH];\n    memset(s, 0, sizeof *s);\n", $1, $1, $1, $1
    if ($2 ~ /struct_size/) print "    s->struct_size = sizeof *s;"
    printf "    fill_%s(s);\n    s[1] = s[0];\n    return s;\n}\n", $1
}' "$tmp/structs" >"$tmp/fill.h"

# shellcheck disable=SC2034  # for the scripts
extreme='
# What a parameter gets by its type and name; `lists` says that a list came before it. What has no numbers is a good value.
function extreme(p,    type, name) {
    type = p; sub(/[ *]*[a-z_A-Z0-9]*$/, "", type); sub(/^const /, "", type)
    name = p; sub(/.*[ *]/, "", name)
    if (p ~ /\(\*|_fn \*|lz_(ffi_handler|site|function|stablehlo|params|optim|grad_scaler|ema|mesh) \*/) {
        if (p ~ /\*const \*/) lists = 1
        return value(p)
    }
    if (p ~ /^lz_partition_spec /) return "lz_partition_spec_make(NUMBER(int, 0), NULL)"
    if (p ~ /^lz_placements /) return "lz_placements_make(NUMBER(int, 0), (const lz_placement[16]){{(lz_placement_kind)NUMBER(int, 0), NUMBER(int, 0), NULL}})"
    if (p ~ /lz_local_shard \*/) { lists = 1; return "(lz_local_shard[8]){{0}}" }
    if (match(p, /lz_(loader|archive|checkpoint_manager) \*/)) return p ~ /loader/ ? "loader" : p ~ /manager/ ? "manager" : "archive"
    if (p ~ /DLManaged/) return p ~ /\*\*/ ? "NULL" : p ~ /Versioned/ ? "managed()" : "managed_before_1()"
    if (p ~ /lz_dataset \*/) return "&dataset"
    if (p ~ /lz_tensor \*const \*/) { lists = 1; return "(lz_tensor *const[]){T, T}" }
    if (p ~ /lz_tensor \*\*/) { lists = 1; return "OUTS" }
    if (p ~ /lz_tensor \*.*(idx|index|indices|labels|target|offsets|counts|start)$/) return "N"
    if (p ~ /lz_tensor \*.*(mask|cond|condition|pred)$/) return "B"
    if (p ~ /lz_tensor \*/) return "T"
    if (p ~ /const char \*const \*/) { lists = 1; return value(p) }
    if (p ~ /\*\*|\*const \*/) { lists = 1; return "NULL" }
    if (p ~ /const char \*/) { lists = 1; return "WORD" }
    if (p ~ /lz_array \*a/) { lists = 1; return "array()" }
    if (p ~ /lz_array \*/) { lists = 1; return "ARRAYS_OUT" }
    if (p ~ /lz_ffi_type \*/) { lists = 1; return "ffi_type()" }
    if (match(p, /const lz_[a-z]+_layer \*/)) { sub(/_layer.*/, "", p); sub(/.*lz_/, "", p); return p "_layer()" }
    if (p ~ /char \*/) { lists = 1; return "text" }
    if (p ~ /int64_t \*/) { lists = 1; return "list()" }
    if (p ~ /double \*/) { lists = 1; return "reals()" }
    if (p ~ /^int \*/) { lists = 1; return "(int[8]){8}" }
    if (p ~ /void \*/) { lists = 1; return "memory" }
    if (p ~ /\*/) return type in structs ? "new_" type "()" : "NULL"
    if (p ~ /^lz_shape /) return lists && memory ? "LZ_SHAPE(2, 2)" : "shape()"
    if (p ~ /^lz_dims /) return "dims()"
    if (lists && name == "nbytes") return "LESS(size_t, sizeof memory)"
    return number(type, name, lists && name ~ /^(n|len|count|size|capacity|rank|nbytes|cap|n[a-z]+|[a-z]+_size|struct_size)$/)
}
'
