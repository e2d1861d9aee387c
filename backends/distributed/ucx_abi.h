/* ucx_abi.h - what transport_ucx.c knows of UCX's binary interface (libucp.so.0), declared here so
 * that neither the build nor a program needs its headers: the values and the first fields that are
 * used. All structures begin with a mask of the fields that are set, and only grow at their end, so
 * this is the interface of every UCX from 1.11 on; test/api/ucx_abi.sh compares it with headers. */
#ifndef LZ_BACKENDS_DISTRIBUTED_UCX_ABI_H
#define LZ_BACKENDS_DISTRIBUTED_UCX_ABI_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef int8_t lz_ucs_status; /* an enumeration that is packed */
enum { LZ_UCS_OK = 0, LZ_UCS_INPROGRESS = 1, LZ_UCS_ERR_CANCELED = -16, LZ_UCS_ERR_LAST = -100 };
/* What starts an operation returns NULL (it is done), a status as a pointer, or a request. */
static inline int lz_ucs_is_error(const void *p)
{
    return (uintptr_t)p >= (uintptr_t)(intptr_t)LZ_UCS_ERR_LAST;
}

enum { LZ_UCS_LOG_LEVEL_WARN = 2 }; /* and 1 and 0 are graver */
enum { LZ_UCS_LOG_FUNC_RC_STOP = 0, LZ_UCS_LOG_FUNC_RC_CONTINUE = 1 };
typedef int lz_ucs_log_handler(const char *file, unsigned line, const char *function,
                               unsigned level, const void *component, const char *message,
                               va_list ap);

enum {
    LZ_UCX_MAJOR = 1, /* of the interface that is declared here, and */
    LZ_UCX_MINOR = 11 /* the first that has it */
};
enum { LZ_UCP_FEATURE_TAG = 1 << 0 };
enum { LZ_UCS_THREAD_MODE_SERIALIZED = 1 };
enum { LZ_UCS_MEMORY_TYPE_HOST = 0 };
enum { LZ_UCP_ERR_HANDLING_MODE_PEER = 1 };
enum { LZ_UCP_EP_CLOSE_FLAG_FORCE = 1 << 0 };

typedef struct lz_ucp_params {
    uint64_t field_mask;
    uint64_t features;
    size_t request_size;
    void (*request_init)(void *request);
    void (*request_cleanup)(void *request);
    uint64_t tag_sender_mask;
    int mt_workers_shared;
    size_t estimated_num_eps;
} lz_ucp_params;
enum { LZ_UCP_PARAM_FEATURES = 1 << 0, LZ_UCP_PARAM_ESTIMATED_NUM_EPS = 1 << 6 };

typedef struct lz_ucp_worker_params {
    uint64_t field_mask;
    uint32_t thread_mode;
} lz_ucp_worker_params;
enum { LZ_UCP_WORKER_PARAM_THREAD_MODE = 1 << 0 };

typedef struct lz_ucp_ep_params {
    uint64_t field_mask;
    const void *address;
    uint32_t err_mode;
    struct {
        void (*cb)(void *arg, void *ep, lz_ucs_status status);
        void *arg;
    } err_handler;
} lz_ucp_ep_params;
enum {
    LZ_UCP_EP_PARAM_REMOTE_ADDRESS = 1 << 0,
    LZ_UCP_EP_PARAM_ERR_HANDLING_MODE = 1 << 1,
    LZ_UCP_EP_PARAM_ERR_HANDLER = 1 << 2
};

typedef struct lz_ucp_tag_info {
    uint64_t sender_tag;
    size_t length;
} lz_ucp_tag_info;

typedef struct lz_ucp_request_param {
    uint32_t op_attr_mask;
    uint32_t flags;
    void *request;
    union {
        void (*send)(void *request, lz_ucs_status status, void *user_data);
        void (*recv)(void *request, lz_ucs_status status, const lz_ucp_tag_info *info,
                     void *user_data);
    } cb;
    uint64_t datatype;
    void *user_data;
    void *reply_buffer;
    uint32_t memory_type;
    lz_ucp_tag_info *recv_info; /* of a receive that is done at once */
} lz_ucp_request_param;
enum {
    LZ_UCP_OP_ATTR_CALLBACK = 1 << 1,
    LZ_UCP_OP_ATTR_USER_DATA = 1 << 2,
    LZ_UCP_OP_ATTR_FLAGS = 1 << 4,
    LZ_UCP_OP_ATTR_MEMORY_TYPE = 1 << 6,
    LZ_UCP_OP_ATTR_RECV_INFO = 1 << 7
};

/* The functions that are used. */
typedef struct lz_ucx_api {
    void (*ucp_get_version)(unsigned *major, unsigned *minor, unsigned *release);
    lz_ucs_status (*ucp_config_read)(const char *prefix, const char *file, void **config);
    lz_ucs_status (*ucp_config_modify)(void *config, const char *name, const char *value);
    void (*ucp_config_release)(void *config);
    lz_ucs_status (*ucp_init_version)(unsigned major, unsigned minor, const lz_ucp_params *params,
                                      const void *config, void **context);
    void (*ucp_cleanup)(void *context);
    lz_ucs_status (*ucp_worker_create)(void *context, const lz_ucp_worker_params *params,
                                       void **worker);
    void (*ucp_worker_destroy)(void *worker);
    lz_ucs_status (*ucp_worker_get_address)(void *worker, void **address, size_t *nbytes);
    void (*ucp_worker_release_address)(void *worker, void *address);
    unsigned (*ucp_worker_progress)(void *worker);
    lz_ucs_status (*ucp_ep_create)(void *worker, const lz_ucp_ep_params *params, void **ep);
    void *(*ucp_ep_close_nbx)(void *ep, const lz_ucp_request_param *param);
    void *(*ucp_tag_send_nbx)(void *ep, const void *p, size_t n, uint64_t tag,
                              const lz_ucp_request_param *param);
    void *(*ucp_tag_recv_nbx)(void *worker, void *p, size_t n, uint64_t tag, uint64_t mask,
                              const lz_ucp_request_param *param);
    void *(*ucp_tag_probe_nb)(void *worker, uint64_t tag, uint64_t mask, int remove,
                              lz_ucp_tag_info *info);
    void *(*ucp_tag_msg_recv_nbx)(void *worker, void *p, size_t n, void *message,
                                  const lz_ucp_request_param *param);
    void (*ucp_request_cancel)(void *worker, void *request);
    lz_ucs_status (*ucp_request_check_status)(void *request);
    void (*ucp_request_free)(void *request);
    const char *(*ucs_status_string)(lz_ucs_status status);
    void (*ucs_log_push_handler)(lz_ucs_log_handler *handler);
    void (*ucs_log_pop_handler)(void);
} lz_ucx_api;
#endif
