/** A request whose tools an API lacks, with tools that it has, and the way back. */
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { LLMResponse, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';

export interface RewrittenTools {
  readonly options: NormalizedOptions;
  /** Whether the client may read the vendor's own messages all the same. */
  readonly isRelayable?: boolean;
  readonly restoreResponse: (response: LLMResponse) => LLMResponse;
  /** @returns the events that a stream with the original tools has in place of this one */
  readonly restoreEvent: (event: ResponseStreamEvent) => readonly ResponseStreamEvent[];
}

/** The response with restored items, without the vendor's copy of the rewritten tools. */
export function restoreItems(response: LLMResponse, restore: (item: OutputItem) => OutputItem): LLMResponse {
  const { vendor } = response;
  const { tools: _, tool_choice: __, ...fields } = vendor.fields ?? {};
  return {
    ...response,
    output: response.output.map(restore),
    vendor: vendor.fields === undefined ? vendor : { ...vendor, fields },
  };
}

/** Rewrites in order, and restores in the opposite one. @returns undefined if nothing is rewritten */
export function rewriteTools(
  options: NormalizedOptions,
  rewrites: readonly ((options: NormalizedOptions) => RewrittenTools | undefined)[],
): RewrittenTools | undefined {
  return rewrites.reduce<RewrittenTools | undefined>((outer, rewrite) => {
    const inner = rewrite(outer?.options ?? options);
    if (outer === undefined || inner === undefined) return inner ?? outer;
    return {
      options: inner.options,
      isRelayable: outer.isRelayable === true && inner.isRelayable === true,
      restoreResponse: (response) => outer.restoreResponse(inner.restoreResponse(response)),
      restoreEvent: (event) => inner.restoreEvent(event).flatMap((restored) => outer.restoreEvent(restored)),
    };
  }, undefined);
}
