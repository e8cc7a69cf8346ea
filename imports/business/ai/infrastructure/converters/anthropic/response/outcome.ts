/**
 * Converts stop reasons and token usage.
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
import { addUsage, NO_USAGE, positiveCounts, serverToolUse, tokenCount } from '../../../../domain/entities/Response';
import { fieldsOf, isObject, isObjectList } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { LLMResponse, Usage } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface Outcome {
  readonly status: 'completed' | 'incomplete';
  readonly reason?: 'max_output_tokens' | 'content_filter';
}

const COMPLETED: Outcome = { status: 'completed' };
const TRUNCATED: Outcome = { status: 'incomplete', reason: 'max_output_tokens' };

const OUTCOMES = {
  end_turn: COMPLETED,
  stop_sequence: COMPLETED,
  tool_use: COMPLETED,
  /** The server paused a long turn. It continues when the response is sent back unchanged. */
  pause_turn: COMPLETED,
  /** The response is the summary that was asked for. */
  compaction: COMPLETED,
  max_tokens: TRUNCATED,
  model_context_window_exceeded: TRUNCATED,
  refusal: { status: 'incomplete', reason: 'content_filter' },
} as const satisfies Record<string, Outcome>;

/** An unknown stop reason counts as completed, with a warning. */
export function outcomeOf(stopReason: string | null, warnings: string[]): Outcome {
  if (stopReason === null) return COMPLETED;
  if (isKnownStopReason(stopReason)) return OUTCOMES[stopReason];
  warnings.push(`The response has the unknown stop_reason "${stopReason}" and counts as completed.`);
  return COMPLETED;
}

function isKnownStopReason(reason: string): reason is keyof typeof OUTCOMES {
  return Object.hasOwn(OUTCOMES, reason);
}

/** Returns the stop reason for a response of another wire. */
export function stopReasonOf(response: LLMResponse): string {
  if (response.status === 'incomplete')
    return response.incomplete_details?.reason === 'content_filter' ? 'refusal' : 'max_tokens';
  return response.output.some((item) => item.type === 'function_call') ? 'tool_use' : 'end_turn';
}

/**
 * Anthropic's `input_tokens` exclude cached tokens; `Usage.input_tokens` include them. `output_tokens` include
 * thinking. https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export function toUsage(raw: JsonObject): Usage {
  const cached_tokens = tokenCount(raw.cache_read_input_tokens);
  const cache_write_tokens = tokenCount(raw.cache_creation_input_tokens);
  const input_tokens = tokenCount(raw.input_tokens) + cached_tokens + cache_write_tokens;
  const output_tokens = tokenCount(raw.output_tokens);
  const details = raw.output_tokens_details;
  return {
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    input_tokens_details: {
      cached_tokens,
      cache_write_tokens,
      ...positiveCounts({ cache_write_1h_tokens: fieldsOf(raw.cache_creation).ephemeral_1h_input_tokens }),
    },
    output_tokens_details: { reasoning_tokens: isObject(details) ? tokenCount(details.thinking_tokens) : 0 },
    ...(isObject(raw.server_tool_use) ? requestsOf(raw.server_tool_use) : {}),
  };
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools */
function requestsOf({
  web_search_requests: web_search,
  web_fetch_requests: web_fetch,
  code_execution_requests: code_execution,
}: JsonObject): Pick<Usage, 'server_tool_use'> {
  return serverToolUse({ web_search, web_fetch, code_execution });
}

/** The types of calls that run code in a container. */
const CODE_EXECUTIONS: ReadonlySet<unknown> = new Set([
  'code_execution',
  'bash_code_execution',
  'text_editor_code_execution',
]);

/**
 * Adds the runs of code, which the usage of most models leaves out. They are free where web search or web fetch filter
 * their results by them. https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool
 */
export function withCodeExecutions(usage: Usage, content: readonly JsonObject[]): Usage {
  const calls = content.filter(({ type }) => type === 'server_tool_use');
  const isFree = calls.some(
    ({ name, caller }) =>
      (name === 'web_search' || name === 'web_fetch') && String(fieldsOf(caller).type).startsWith('code_execution'),
  );
  const { code_execution, ...others } = usage.server_tool_use ?? {};
  const executions = isFree ? 0 : (code_execution ?? calls.filter(({ name }) => CODE_EXECUTIONS.has(name)).length);
  if (executions === (code_execution ?? 0)) return usage;
  const { server_tool_use: _, ...tokens } = usage;
  return { ...tokens, ...serverToolUse({ ...others, code_execution: executions }) };
}

/** Adds the usage of compactions, which the response's usage leaves out. */
export function withCompactions(usage: Usage, raw: unknown): Usage {
  const iterations = isObject(raw) && isObjectList(raw.iterations) ? raw.iterations : [];
  const compactions = iterations.filter(({ type }) => type === 'compaction');
  return compactions.reduce<Usage>((sum, each) => addUsage(sum, toUsage(each)), usage);
}

export function toUsageOrNone(raw: unknown, warnings: string[]): Usage {
  if (isObject(raw)) return toUsage(raw);
  warnings.push('The response has no usage, so all token counts are zero.');
  return NO_USAGE;
}

/** Converts the usage of a response of another wire. */
export function toAnthropicUsage({
  input_tokens,
  output_tokens,
  input_tokens_details: { cached_tokens, cache_write_tokens, cache_write_1h_tokens: hourly },
  output_tokens_details: { reasoning_tokens },
  server_tool_use,
}: Usage): JsonObject {
  const { web_search = 0, web_fetch = 0 } = server_tool_use ?? {};
  return omitUndefined({
    input_tokens: Math.max(0, input_tokens - cached_tokens - cache_write_tokens),
    cache_creation_input_tokens: cache_write_tokens,
    cache_read_input_tokens: cached_tokens,
    cache_creation:
      hourly === undefined
        ? undefined
        : { ephemeral_5m_input_tokens: cache_write_tokens - hourly, ephemeral_1h_input_tokens: hourly },
    output_tokens,
    output_tokens_details: reasoning_tokens > 0 ? { thinking_tokens: reasoning_tokens } : undefined,
    server_tool_use:
      web_search + web_fetch > 0 ? { web_search_requests: web_search, web_fetch_requests: web_fetch } : undefined,
  });
}
