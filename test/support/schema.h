/* schema.h - whether JSON is as a JSON schema says: the keywords that the schemas in docs/reference
 * use ($ref within the file, oneOf, type, const, enum, required, properties, additionalProperties,
 * items, pattern, minimum). Another keyword is a failure. Threads: a test's own. */
#ifndef LZ_TEST_SCHEMA_H
#define LZ_TEST_SCHEMA_H
#include <jansson.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct schema_check {
    const json_t *root;
    char why[400]; /* the first thing that is wrong */
} schema_check;

static bool schema_holds(schema_check *c, const json_t *s, const json_t *v, const char *at);

static bool schema_wrong(schema_check *c, const char *at, const char *what)
{
    if (!c->why[0])
        snprintf(c->why, sizeof c->why, "%s: %s", at, what);
    return false;
}

static bool schema_is(const json_t *v, const char *type)
{
    return strcmp(type, "object") == 0    ? json_is_object(v)
           : strcmp(type, "array") == 0   ? json_is_array(v)
           : strcmp(type, "string") == 0  ? json_is_string(v)
           : strcmp(type, "integer") == 0 ? json_is_integer(v)
           : strcmp(type, "number") == 0  ? json_is_number(v)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(v)
                                          : strcmp(type, "null") == 0 && json_is_null(v);
}

static bool schema_has_type(const json_t *type, const json_t *v)
{
    size_t i;
    json_t *one;
    if (json_is_string(type))
        return schema_is(v, json_string_value(type));
    json_array_foreach(type, i, one) if (schema_is(v, json_string_value(one))) return true;
    return false;
}

static bool schema_matches(const char *pattern, const char *text)
{
    regex_t r;
    if (!text || regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    bool is = regexec(&r, text, 0, NULL, 0) == 0;
    regfree(&r);
    return is;
}

static bool schema_object(schema_check *c, const json_t *s, const json_t *v, const char *at)
{
    size_t i;
    const char *key;
    json_t *one, *properties = json_object_get(s, "properties");
    json_array_foreach(
        json_object_get(s, "required"), i,
        one) if (!json_object_get(v, json_string_value(one))) return schema_wrong(c,
                                                                                  json_string_value(
                                                                                      one),
                                                                                  "is missing");
    json_object_foreach((json_t *)v, key, one)
    {
        char below[200];
        const json_t *p = json_object_get(properties, key);
        snprintf(below, sizeof below, "%s.%s", at, key);
        if (!p && json_is_false(json_object_get(s, "additionalProperties")))
            return schema_wrong(c, below, "is not known");
        if (p && !schema_holds(c, p, one, below))
            return false;
    }
    return true;
}

static bool schema_one_of(schema_check *c, const json_t *all, const json_t *v, const char *at)
{
    size_t i;
    int n = 0;
    json_t *one;
    char first[sizeof c->why] = "";
    json_array_foreach(all, i, one)
    {
        schema_check alone = {.root = c->root};
        n += schema_holds(&alone, one, v, at);
        if (strlen(alone.why) > strlen(first))
            snprintf(first, sizeof first, "%s", alone.why);
    }
    return n == 1 || schema_wrong(c, at, n ? "several alternatives hold" : first);
}

/* A keyword and its value. */
static bool schema_keyword(schema_check *c, const json_t *s, const char *key, const json_t *is,
                           const json_t *v, const char *at)
{
    size_t i;
    json_t *one;
    if (strcmp(key, "$ref") == 0) /* "#/$defs/NAME" */
        return schema_holds(c,
                            json_object_get(json_object_get(c->root, "$defs"),
                                            strrchr(json_string_value(is), '/') + 1),
                            v, at);
    if (strcmp(key, "oneOf") == 0)
        return schema_one_of(c, is, v, at);
    if (strcmp(key, "type") == 0)
        return schema_has_type(is, v) || schema_wrong(c, at, "has another type");
    if (strcmp(key, "const") == 0)
        return json_equal(is, v) || schema_wrong(c, at, "is another value");
    if (strcmp(key, "enum") == 0) {
        json_array_foreach(is, i, one) if (json_equal(one, v)) return true;
        return schema_wrong(c, at, "is none of the values");
    }
    if (strcmp(key, "properties") == 0)
        return schema_object(c, s, v, at);
    if (strcmp(key, "items") == 0) {
        json_array_foreach(v, i, one) if (!schema_holds(c, is, one, at)) return false;
        return true;
    }
    if (strcmp(key, "pattern") == 0)
        return schema_matches(json_string_value(is), json_string_value(v)) ||
               schema_wrong(c, at, "does not match");
    if (strcmp(key, "minimum") == 0)
        return json_number_value(v) >= json_number_value(is) || schema_wrong(c, at, "is too small");
    static const char *const with[] = {"required", "additionalProperties", "$schema", "title",
                                       "$defs"};
    for (i = 0; i < sizeof with / sizeof *with; i++)
        if (strcmp(key, with[i]) == 0)
            return true;
    return schema_wrong(c, key, "is a keyword that is not known here");
}

static bool schema_holds(schema_check *c, const json_t *s, const json_t *v, const char *at)
{
    const char *key;
    json_t *is;
    if (!s)
        return schema_wrong(c, at, "there is no such definition");
    json_object_foreach((json_t *)s, key,
                        is) if (!schema_keyword(c, s, key, is, v, at)) return false;
    return true;
}
#endif
