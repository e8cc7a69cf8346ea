/**
 * Counts what the vendor's own tools have done for a response of the Responses wire.
 *
 * OpenAI counts the searches that it charges for in `tool_usage`; an item that opened a page is none:
 * https://developers.openai.com/api/docs/guides/tools-web-search. xAI counts the successful calls of each of its tools:
 * https://docs.x.ai/developers/tools/tool-usage-details
 */
import { positiveCounts, serverToolUse, tokenCount } from '../../../domain/entities/Response';
import { fieldsOf, isObject, isObjectList } from '../../../domain/util/json';
import type { ToolModelUsage, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

export function serverToolsIn(wire: JsonObject): Pick<Usage, 'server_tool_use'> {
  const { server_side_tool_usage_details: counted } = fieldsOf(wire.usage);
  if (isObject(counted)) return serverToolUse(withoutSuffix(counted));
  const items = isObjectList(wire.output) ? wire.output.filter(({ type }) => !TEXTS_AND_CALLS.has(type)) : NO_ITEMS;
  if (items.length === 0 && wire.tool_usage === undefined) return NO_USES;
  const { web_search, image_gen } = fieldsOf(wire.tool_usage);
  const count = (type: string): number => items.filter((item) => item.type === type).length;
  return serverToolUse({
    [searchTool(wire)]: isObject(web_search) ? web_search.num_requests : items.filter(isSearch).length,
    file_search: count('file_search_call'),
    code_interpreter: count('code_interpreter_call'),
    shell: items.filter(runsInContainer).length,
    // With their tokens, images are those of their model.
    image_generation: hasTokens(image_gen) ? 0 : count('image_generation_call'),
  });
}

const NO_ITEMS: readonly JsonObject[] = [];
const NO_USES: Pick<Usage, 'server_tool_use'> = {};
/** What every model writes. */
const TEXTS_AND_CALLS: ReadonlySet<unknown> = new Set(['message', 'reasoning', 'function_call']);

function withoutSuffix(counts: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name.replace(/_calls$/, ''), count]));
}

function isSearch({ type, action }: JsonObject): boolean {
  return type === 'web_search_call' && (fieldsOf(action).type ?? 'search') === 'search';
}

/** The older version of the tool has a price of its own. */
function searchTool({ tools }: JsonObject): 'web_search' | 'web_search_preview' {
  const isOlder = isObjectList(tools) && tools.some(({ type }) => String(type).startsWith('web_search_preview'));
  return isOlder ? 'web_search_preview' : 'web_search';
}

/** A local shell costs nothing. */
function runsInContainer({ type, environment }: JsonObject): boolean {
  return type === 'shell_call' && fieldsOf(environment).type === 'container_reference';
}

/** The image model's tokens, which the usage of the response leaves out. */
export function toolModelsIn(wire: JsonObject): readonly ToolModelUsage[] {
  const { image_gen } = fieldsOf(wire.tool_usage);
  if (!hasTokens(image_gen)) return NO_MODELS;
  const { input_tokens_details, output_tokens_details, cached_tokens_details } = image_gen;
  const cached = fieldsOf(cached_tokens_details);
  const input_tokens = tokenCount(image_gen.input_tokens);
  const output_tokens = tokenCount(image_gen.output_tokens);
  const usage: Usage = {
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    input_tokens_details: {
      cached_tokens: tokenCount(image_gen.cached_tokens),
      cache_write_tokens: 0,
      ...positiveCounts({
        image_tokens: fieldsOf(input_tokens_details).image_tokens,
        cached_image_tokens: cached.cached_image_tokens,
      }),
    },
    output_tokens_details: {
      reasoning_tokens: 0,
      // Details that are left out are those of an image.
      ...positiveCounts({ image_tokens: fieldsOf(output_tokens_details).image_tokens ?? output_tokens }),
    },
  };
  return [{ model: imageModel(wire), usage }];
}

const NO_MODELS: readonly ToolModelUsage[] = [];

function hasTokens(usage: unknown): usage is JsonObject {
  return isObject(usage) && typeof usage.total_tokens === 'number' && usage.total_tokens > 0;
}

/** https://developers.openai.com/api/docs/guides/tools-image-generation */
const DEFAULT_IMAGE_MODEL = 'gpt-image-2';

function imageModel({ tools }: JsonObject): string {
  const tool = isObjectList(tools) ? tools.find(({ type }) => type === 'image_generation') : undefined;
  return typeof tool?.model === 'string' ? tool.model : DEFAULT_IMAGE_MODEL;
}
