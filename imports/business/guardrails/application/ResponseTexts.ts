/** Filters the texts of one response. Each text is filtered once, however often the response repeats it. */
import { outputTextOf } from '../../ai/domain/entities/Response';
import { isList, isObject } from '../../ai/domain/util/json';
import type { LLMResponse, OutputItem } from '../../ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import type { GuardedCall, GuardrailChain } from './GuardrailChain';
import { mapStrings } from './mapStrings';

export class ResponseTexts {
  private readonly chain: GuardrailChain;
  private readonly call: GuardedCall;
  /** Results by text. */
  private readonly filtered = new Map<string, string>();

  constructor(chain: GuardrailChain, call: GuardedCall) {
    this.chain = chain;
    this.call = call;
  }

  /** Records the result for a text that was filtered piece by piece. */
  remember(text: string, result: string): void {
    this.filtered.set(text, result);
  }

  /** @throws GuardrailError */
  readonly filterText = async (text: string): Promise<string> => {
    const known = this.filtered.get(text);
    if (known !== undefined || text === '') return known ?? text;
    const filter = this.chain.openText(this.call);
    const start = await filter.push(text);
    const result = start + (await filter.end());
    this.filtered.set(text, result);
    return result;
  };

  /** @returns the item itself if nothing has changed. @throws GuardrailError */
  async filterItem(item: OutputItem): Promise<OutputItem> {
    if (!this.chain.filtersText) return item;
    const filtered = await mapStrings(item, this.filterText);
    if (filtered === item) return item;
    switch (filtered.type) {
      case 'message':
        // They spell the text out.
        return {
          ...filtered,
          content: filtered.content.map((part) => {
            if (part.type !== 'output_text') return part;
            const { logprobs, ...rest } = part;
            return rest;
          }),
        };
      case 'reasoning': {
        // The vendor's seal is valid for the original text only.
        const { encrypted_content, vendor, ...rest } = filtered;
        return rest;
      }
      default:
        return filtered;
    }
  }

  /** @returns the response itself if nothing has changed. @throws GuardrailError */
  async filterResponse(response: LLMResponse): Promise<LLMResponse> {
    if (!this.chain.filtersText) return response;
    const output: OutputItem[] = [];
    for (const item of response.output) output.push(await this.filterItem(item));
    const { fields } = response.vendor;
    const filteredFields = fields === undefined ? undefined : await mapStrings(fields, this.filterText);
    if (output.every((item, index) => item === response.output[index]) && filteredFields === fields) return response;
    const vendor =
      filteredFields === undefined
        ? response.vendor
        : // Boundary: only fields were removed.
          { ...response.vendor, fields: withoutLogprobs(filteredFields) as JsonObject };
    return { ...response, output, output_text: outputTextOf(output), vendor };
  }
}

/** They spell the original text out. */
function withoutLogprobs(value: unknown): unknown {
  if (isList(value)) return value.map(withoutLogprobs);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (/^logprobs/i.test(name) ? [] : [[name, withoutLogprobs(each)]])),
  );
}
