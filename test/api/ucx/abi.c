/* abi.c - compares backends/distributed/ucx_abi.h with UCX's headers: values, where fields are and
 * how large they are, and the types of functions. It is right if it compiles. */
#include "backends/distributed/ucx_abi.h"
#include <ucp/api/ucp.h>
#include <ucs/debug/log_def.h>

#define VALUE(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #theirs)
#define FIELD(ours, theirs, field)                                                                 \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, field) &&                             \
                       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->field),                 \
                   #theirs "." #field)

VALUE(LZ_UCS_OK, UCS_OK);
VALUE(LZ_UCS_INPROGRESS, UCS_INPROGRESS);
VALUE(LZ_UCS_ERR_CANCELED, UCS_ERR_CANCELED);
VALUE(LZ_UCS_ERR_LAST, UCS_ERR_LAST);
VALUE(sizeof(lz_ucs_status), sizeof(ucs_status_t));
VALUE(LZ_UCS_LOG_LEVEL_WARN, UCS_LOG_LEVEL_WARN);
VALUE(LZ_UCS_LOG_FUNC_RC_STOP, UCS_LOG_FUNC_RC_STOP);
VALUE(LZ_UCS_LOG_FUNC_RC_CONTINUE, UCS_LOG_FUNC_RC_CONTINUE);
VALUE(sizeof(ucs_log_level_t), sizeof(unsigned));
VALUE(sizeof(ucs_log_func_rc_t), sizeof(int));
VALUE(LZ_UCX_MAJOR, UCP_API_MAJOR);
VALUE(LZ_UCX_MINOR <= UCP_API_MINOR, 1);
VALUE(LZ_UCP_FEATURE_TAG, UCP_FEATURE_TAG);
VALUE(LZ_UCS_THREAD_MODE_SERIALIZED, UCS_THREAD_MODE_SERIALIZED);
VALUE(LZ_UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_HOST);
VALUE(LZ_UCP_ERR_HANDLING_MODE_PEER, UCP_ERR_HANDLING_MODE_PEER);
VALUE(LZ_UCP_EP_CLOSE_FLAG_FORCE, UCP_EP_CLOSE_FLAG_FORCE);

VALUE(LZ_UCP_PARAM_FEATURES, UCP_PARAM_FIELD_FEATURES);
VALUE(LZ_UCP_PARAM_ESTIMATED_NUM_EPS, UCP_PARAM_FIELD_ESTIMATED_NUM_EPS);
FIELD(lz_ucp_params, ucp_params_t, field_mask);
FIELD(lz_ucp_params, ucp_params_t, features);
FIELD(lz_ucp_params, ucp_params_t, estimated_num_eps);
VALUE(sizeof(lz_ucp_params) <= sizeof(ucp_params_t), 1);

VALUE(LZ_UCP_WORKER_PARAM_THREAD_MODE, UCP_WORKER_PARAM_FIELD_THREAD_MODE);
FIELD(lz_ucp_worker_params, ucp_worker_params_t, field_mask);
FIELD(lz_ucp_worker_params, ucp_worker_params_t, thread_mode);
VALUE(sizeof(lz_ucp_worker_params) <= sizeof(ucp_worker_params_t), 1);

VALUE(LZ_UCP_EP_PARAM_REMOTE_ADDRESS, UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
VALUE(LZ_UCP_EP_PARAM_ERR_HANDLING_MODE, UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE);
VALUE(LZ_UCP_EP_PARAM_ERR_HANDLER, UCP_EP_PARAM_FIELD_ERR_HANDLER);
FIELD(lz_ucp_ep_params, ucp_ep_params_t, field_mask);
FIELD(lz_ucp_ep_params, ucp_ep_params_t, address);
FIELD(lz_ucp_ep_params, ucp_ep_params_t, err_mode);
FIELD(lz_ucp_ep_params, ucp_ep_params_t, err_handler.cb);
FIELD(lz_ucp_ep_params, ucp_ep_params_t, err_handler.arg);
VALUE(sizeof(lz_ucp_ep_params) <= sizeof(ucp_ep_params_t), 1);

FIELD(lz_ucp_tag_info, ucp_tag_recv_info_t, sender_tag);
FIELD(lz_ucp_tag_info, ucp_tag_recv_info_t, length);
VALUE(sizeof(lz_ucp_tag_info), sizeof(ucp_tag_recv_info_t));

VALUE(LZ_UCP_OP_ATTR_CALLBACK, UCP_OP_ATTR_FIELD_CALLBACK);
VALUE(LZ_UCP_OP_ATTR_USER_DATA, UCP_OP_ATTR_FIELD_USER_DATA);
VALUE(LZ_UCP_OP_ATTR_FLAGS, UCP_OP_ATTR_FIELD_FLAGS);
VALUE(LZ_UCP_OP_ATTR_MEMORY_TYPE, UCP_OP_ATTR_FIELD_MEMORY_TYPE);
VALUE(LZ_UCP_OP_ATTR_RECV_INFO, UCP_OP_ATTR_FIELD_RECV_INFO);
FIELD(lz_ucp_request_param, ucp_request_param_t, op_attr_mask);
FIELD(lz_ucp_request_param, ucp_request_param_t, flags);
FIELD(lz_ucp_request_param, ucp_request_param_t, cb.send);
FIELD(lz_ucp_request_param, ucp_request_param_t, cb.recv);
FIELD(lz_ucp_request_param, ucp_request_param_t, user_data);
FIELD(lz_ucp_request_param, ucp_request_param_t, memory_type);
FIELD(lz_ucp_request_param, ucp_request_param_t, recv_info);
VALUE(sizeof(lz_ucp_request_param) <= sizeof(ucp_request_param_t), 1);

/* ---- functions: lz_ucx_api with UCX's types for pointers, structures and statuses ---- */

#define FUNCTION(name, ...) VALUE(__builtin_types_compatible_p(__typeof__(&name), __VA_ARGS__), 1)

FUNCTION(ucp_get_version, void (*)(unsigned *, unsigned *, unsigned *));
FUNCTION(ucp_config_read, ucs_status_t (*)(const char *, const char *, ucp_config_t **));
FUNCTION(ucp_config_modify, ucs_status_t (*)(ucp_config_t *, const char *, const char *));
FUNCTION(ucp_config_release, void (*)(ucp_config_t *));
FUNCTION(ucp_init_version, ucs_status_t (*)(unsigned, unsigned, const ucp_params_t *,
                                            const ucp_config_t *, ucp_context_h *));
FUNCTION(ucp_cleanup, void (*)(ucp_context_h));
FUNCTION(ucp_worker_create,
         ucs_status_t (*)(ucp_context_h, const ucp_worker_params_t *, ucp_worker_h *));
FUNCTION(ucp_worker_destroy, void (*)(ucp_worker_h));
FUNCTION(ucp_worker_get_address, ucs_status_t (*)(ucp_worker_h, ucp_address_t **, size_t *));
FUNCTION(ucp_worker_release_address, void (*)(ucp_worker_h, ucp_address_t *));
FUNCTION(ucp_worker_progress, unsigned (*)(ucp_worker_h));
FUNCTION(ucp_ep_create, ucs_status_t (*)(ucp_worker_h, const ucp_ep_params_t *, ucp_ep_h *));
FUNCTION(ucp_ep_close_nbx, void *(*)(ucp_ep_h, const ucp_request_param_t *));
FUNCTION(ucp_tag_send_nbx,
         void *(*)(ucp_ep_h, const void *, size_t, uint64_t, const ucp_request_param_t *));
FUNCTION(ucp_tag_recv_nbx,
         void *(*)(ucp_worker_h, void *, size_t, uint64_t, uint64_t, const ucp_request_param_t *));
FUNCTION(ucp_tag_probe_nb,
         ucp_tag_message_h (*)(ucp_worker_h, uint64_t, uint64_t, int, ucp_tag_recv_info_t *));
FUNCTION(ucp_tag_msg_recv_nbx,
         void *(*)(ucp_worker_h, void *, size_t, ucp_tag_message_h, const ucp_request_param_t *));
FUNCTION(ucp_request_cancel, void (*)(ucp_worker_h, void *));
FUNCTION(ucp_request_check_status, ucs_status_t (*)(void *));
FUNCTION(ucp_request_free, void (*)(void *));
FUNCTION(ucs_status_string, const char *(*)(ucs_status_t));
FUNCTION(ucs_log_push_handler, void (*)(ucs_log_func_t));
FUNCTION(ucs_log_pop_handler, void (*)(void));
FUNCTION(*(ucs_log_func_t)0,
         ucs_log_func_rc_t (*)(const char *, unsigned, const char *, ucs_log_level_t,
                               const ucs_log_component_config_t *, const char *, va_list));
FUNCTION((lz_ucp_request_param){0}.cb.send, void (**)(void *, lz_ucs_status, void *));
FUNCTION((ucp_request_param_t){0}.cb.send, void (**)(void *, ucs_status_t, void *));
FUNCTION((ucp_request_param_t){0}.cb.recv,
         void (**)(void *, ucs_status_t, const ucp_tag_recv_info_t *, void *));
FUNCTION((ucp_ep_params_t){0}.err_handler.cb, void (**)(void *, ucp_ep_h, ucs_status_t));
