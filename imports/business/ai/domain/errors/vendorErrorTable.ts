/**
 * Classifies vendor errors: first by decisive statuses and exact codes, then by the message, then by the HTTP status,
 * then by broad codes.
 */
import {
  ConflictError,
  LLMAuthError,
  LLMContentFilterError,
  LLMContextLengthError,
  LLMInvalidRequestError,
  LLMModelNotFoundError,
  LLMOverloadedError,
  LLMPermissionError,
  LLMQuotaError,
  LLMRateLimitError,
  LLMServerError,
  LLMTimeoutError,
} from './LLMErrors';
import type { LLMError, LLMErrorDetails } from './LLMErrors';

const CLASSES = {
  auth: LLMAuthError,
  permission: LLMPermissionError,
  invalid: LLMInvalidRequestError,
  model: LLMModelNotFoundError,
  context: LLMContextLengthError,
  filter: LLMContentFilterError,
  rate: LLMRateLimitError,
  quota: LLMQuotaError,
  overloaded: LLMOverloadedError,
  timeout: LLMTimeoutError,
  server: LLMServerError,
  conflict: ConflictError,
} as const satisfies Record<string, new (message: string, details?: LLMErrorDetails) => LLMError>;
export type VendorErrorClass = (typeof CLASSES)[Kind];
type Kind = keyof typeof CLASSES;

/**
 * @param status HTTP status, of the response or stated in its body
 * @param codes the vendor's codes and types, the most specific first
 */
export function classifyVendorError(
  status: number | undefined,
  codes: readonly string[],
  message: string,
): VendorErrorClass {
  const plain = codes.map((each) => each.toLowerCase());
  const kind =
    (status === undefined ? undefined : DECISIVE_STATUSES[status]) ??
    lookUp(EXACT_WORDS, plain) ??
    PHRASES.find(
      (row) => (status === undefined ? row.bare !== false : matches(row.statuses, status)) && row.pattern.test(message),
    )?.kind ??
    (status === undefined ? undefined : kindOfStatus(status)) ??
    lookUp(BROAD_WORDS, plain) ??
    'server';
  return CLASSES[kind];
}

/**
 * Statuses that are more specific than their codes: Groq labels a request that exceeds its per-minute limit on its own
 * a rate limit.
 */
const DECISIVE_STATUSES: Readonly<Record<number, Kind>> = { 402: 'quota', 413: 'context' };

/**
 * Codes that decide regardless of the status: vendors report an invalid key with 400, and exhausted credit with 400,
 * 402, 403 or 429. MiniMax's are numbers: https://platform.minimax.io/docs/api-reference/errorcode
 */
const EXACT_WORDS = codeTable({
  auth: [
    'invalid_api_key',
    'incorrect_api_key',
    'api_key_invalid',
    'api_key_expired',
    'expired_api_key',
    'authentication_error',
    'unauthenticated',
    'access_token_expired',
    'token_expired',
    'wrong_api_key',
    'base_resp_1004',
    'base_resp_2049',
  ],
  permission: [
    'permission_error',
    'permissiondenied',
    'api_key_service_blocked',
    'api_key_http_referrer_blocked',
    'api_key_ip_address_blocked',
    'service_disabled',
    'access_token_scope_insufficient',
    'unsupported_country_region_territory',
    'model_permission_blocked_org',
    'model_permission_blocked_project',
    'consumer_suspended',
    'account_deactivated',
    'organization_restricted',
    'organization_on_hold',
    'sandbox_egress_restricted',
    'user_profile_billing_not_authorized',
  ],
  model: [
    'model_not_found',
    'deploymentnotfound',
    'unknown_model',
    'model_not_available',
    'model_decommissioned',
    'model_not_active',
    'invalid_model',
    'model_not_supported',
  ],
  context: [
    'context_length_exceeded',
    'request_too_large',
    'exceed_context_size_error',
    'model_context_window_exceeded',
    'prompt_too_long',
    'too_many_prompt_tokens',
    'max_context_length_exceeded',
    'request_body_too_large_after_decoding',
  ],
  filter: [
    'content_filter',
    'content_policy_violation',
    'responsibleaipolicyviolation',
    'bio_policy',
    'cyber_policy',
    'misalignment_policy_violation',
    'image_content_policy_violation',
    'moderation_blocked',
    'content_blocked',
    'prohibited_content',
    // Alibaba's Model Studio: https://www.alibabacloud.com/help/en/model-studio/error-code
    'data_inspection_failed',
    'base_resp_1026',
    'base_resp_1027',
    // Gemini's Interactions API: https://ai.google.dev/gemini-api/docs/api-errors
    'safety',
    'recitation',
    'language',
    'spii',
    'blocklist',
    'jailbreak',
    'image_safety',
    'image_prohibited_content',
    'image_recitation',
    'image_other',
  ],
  quota: [
    'insufficient_quota',
    'quota_per_day',
    'billing_error',
    'billing_hard_limit_reached',
    'billing_not_active',
    'billing_disabled',
    'insufficient_credits',
    'insufficient_balance',
    'credit_balance_too_low',
    'payment_required',
    'insufficient_funds',
    'spend_limit_reached',
    'contract_spend_limit_reached',
    'enforced_spend_limit_reached',
    'linked_organization_spend_limit_reached',
    'linked_organization_billing_unavailable',
    'arrearage',
    // Moonshot: https://platform.moonshot.ai/docs/api/chat
    'exceeded_current_quota_error',
    'base_resp_1008',
  ],
  rate: [
    'rate_limit_error',
    'rate_limit_exceeded',
    'resource_exhausted',
    'request_quota_exceeded',
    'token_quota_exceeded',
    'too_many_requests_error',
    'ratelimitreached',
    'too_many_requests',
    'ramp_limit_exceeded',
    'base_resp_1002',
  ],
  overloaded: [
    'overloaded_error',
    'server_is_overloaded',
    'engine_overloaded',
    'slow_down',
    'capacity_exceeded',
    'nocapacity',
    'over_capacity',
  ],
  timeout: ['timeout_error', 'deadline_exceeded', 'vector_store_timeout'],
  invalid: [
    'previous_response_not_found',
    'tool_use_failed',
    'unsupported_parameter',
    'unsupported_value',
    'invalid_image_url',
    'failed_to_download_image',
    'image_file_not_found',
    'file_expired',
    'thread_not_found',
    'user_profile_not_found',
    'base_resp_2013',
  ],
  conflict: ['conflict_error'],
});

/** Unspecific codes, which many vendors combine with any status. */
const BROAD_WORDS = codeTable({
  auth: ['unauthorized', 'autherror'],
  permission: ['permission_denied', 'forbidden'],
  model: ['not_found_error', 'not_found', 'notfounderror'],
  invalid: [
    'invalid_request_error',
    'invalid_argument',
    'failed_precondition',
    'out_of_range',
    'invalid_prompt',
    'badrequesterror',
    'bad_request',
    'invalid_image',
    'invalid_image_format',
    'invalid_base64_image',
    'image_too_large',
    'image_too_small',
    'image_parse_error',
    'invalid_image_mode',
    'image_file_too_large',
    'unsupported_image_media_type',
    'empty_image_file',
    'data_residency_mismatch',
  ],
  rate: ['tokens', 'requests'],
  overloaded: ['unavailable', 'service_unavailable', 'serviceunavailable', 'overloaded'],
  server: ['api_error', 'server_error', 'internal_server_error', 'internal', 'unknown', 'aborted'],
});

interface Phrase {
  readonly kind: Kind;
  /** The statuses with which the sentence is trusted. */
  readonly statuses: readonly (number | readonly [from: number, to: number])[];
  /** Whether the sentence is trusted without a status. */
  readonly bare?: false;
  readonly pattern: RegExp;
}

const REFUSED = [[400, 428]] as const;

/** Patterns of messages. The first match decides. */
const PHRASES: readonly Phrase[] = [
  {
    // OpenAI (stored objects), Anthropic (files): a 404 that is not about the model.
    kind: 'invalid',
    statuses: [400, 404],
    pattern:
      /^(?:no such|the |requested |previous )*(?:file|response|item|container|conversation|vector store|assistant|thread|batch|prompt|skill|cached ?content)\b.{0,120}(?:not found|does not exist|not exist)|^no such (?:file|response|container|conversation|skill)/i,
  },
  {
    // Azure, Anthropic, xAI, OpenAI, OpenRouter.
    kind: 'filter',
    statuses: REFUSED,
    pattern:
      /content (?:management|filtering|moderation) policy|content[ _]polic(?:y|ies)|violat\w+ (?:our |the )?(?:usage|safety|content) (?:polic|guideline)|flagged (?:as|by|for)|rejected (?:as a result of|by) (?:our |the )?safety|content (?:was |is )?blocked|requires moderation/i,
  },
  {
    // One wording per API: OpenAI, Anthropic, Gemini and Vertex, xAI, Groq, vLLM, Together, llama.cpp, LM Studio,
    // Ollama, OpenRouter, Mistral, Bedrock, Z.ai, Model Studio.
    kind: 'context',
    statuses: [
      [400, 428],
      [500, 500],
    ],
    pattern: new RegExp(
      [
        'prompt (?:is )?too long',
        'input is too long',
        'prompt too (?:long|large)',
        'maximum (?:context|prompt|model|input) length',
        'max(?:imum)?[ _](?:context|seq)[ _]len',
        'exceed\\w*.{0,40}\\bcontext[ _](?:length|window|size|limit)',
        '(?:greater|longer|larger|more) than (?:the )?(?:model.s )?(?:maximum )?(?:context|model) (?:length|window|size)',
        'context[ _](?:length|window|size|limit)(?: \\w+){0,2} exceed',
        '(?:input|prompt) token(?:s| count).{0,60}(?:exceed|only supports)',
        'exceed\\w* (?:the )?(?:maximum number of|model) token',
        'exceeded model token limit',
        'tokens? \\+ .?max_new_tokens',
        'reduce (?:the|your) (?:length of|length|prompt|input)',
        'too many (?:input |prompt )?tokens',
        'too large for (?:the |this )?model',
        'prompt exceeds max length',
        'range of input length',
      ].join('|'),
      'i',
    ),
  },
  {
    // Anthropic (400), xAI (403, 429), OpenAI and Z.ai (429), DeepSeek and OpenRouter (402).
    kind: 'quota',
    statuses: [[400, 429]],
    pattern:
      /exceeded your current quota|credit balance|(?:insufficient|out of|no|run out of|any|enough|more|available) (?:\w+ )?(?:credits?|balance|funds)\b|spending limit|billing (?:hard )?limit|check your billing|api usage limits|in arrears/i,
  },
  {
    // Gemini and xAI (400), several (403).
    kind: 'auth',
    statuses: REFUSED,
    pattern:
      /(?:invalid|incorrect|missing|expired|wrong|malformed|unknown|revoked|no|valid) (?:\w+[ -])?api[ -_]?key|api[ -_]?key\b.{0,30}(?:invalid|incorrect|expired|missing|not valid|not found|required|leaked|revoked|disabled)|(?:invalid|expired|missing) (?:\w+ )?(?:access token|bearer token|credentials)|unregistered callers/i,
  },
  {
    kind: 'permission',
    statuses: [[400, 403]],
    bare: false,
    pattern: /insufficient permissions?|missing scopes?|lacks the required/i,
  },
  {
    // OpenAI and xAI report an unknown model with 400 or 404; Ollama, vLLM and Together have their own wordings.
    kind: 'model',
    statuses: [400, [403, 404], 422],
    pattern:
      /\bmodel\b[^.]{0,120}?(?:does not exist|doesn't exist|do not have access|not found|is not available|(?:has been|was|is) (?:decommissioned|deprecated|retired|shut down))|is not a valid model\b|(?:unknown|invalid|no such|unrecognized|nonexistent) model(?: id| name)?(?=\s*(?:[:'"`(.]|$))|models\/\S+ is not found/i,
  },
  {
    kind: 'rate',
    statuses: [],
    pattern: /rate limit|too many requests|(?:requests|tokens) per (?:second|minute|day)/i,
  },
  { kind: 'overloaded', statuses: [500], pattern: /overloaded|(?:over|at|no) capacity|temporarily unavailable/i },
  { kind: 'timeout', statuses: [], pattern: /timed? ?out|deadline exceeded/i },
];

const STATUSES: Readonly<Record<number, Kind>> = {
  401: 'auth',
  403: 'permission',
  404: 'model',
  407: 'auth',
  408: 'timeout',
  409: 'conflict',
  425: 'overloaded',
  429: 'rate',
  // Groq's flex tier has no capacity.
  498: 'overloaded',
  503: 'overloaded',
  504: 'timeout',
  // Cloudflare: the origin server timed out.
  522: 'timeout',
  524: 'timeout',
  529: 'overloaded',
};

function kindOfStatus(status: number): Kind | undefined {
  if (status in STATUSES) return STATUSES[status];
  if (status >= 500) return 'server';
  return status >= 400 ? 'invalid' : undefined;
}

function matches(statuses: Phrase['statuses'], status: number): boolean {
  return statuses.some((each) => (typeof each === 'number' ? each === status : status >= each[0] && status <= each[1]));
}

function codeTable(codes: Partial<Record<Kind, readonly string[]>>): ReadonlyMap<string, Kind> {
  return new Map(Object.entries(codes).flatMap(([kind, list]) => list.map((each) => [each, kind as Kind] as const)));
}

function lookUp(table: ReadonlyMap<string, Kind>, codes: readonly string[]): Kind | undefined {
  return codes.map((each) => table.get(each)).find((kind) => kind !== undefined);
}
