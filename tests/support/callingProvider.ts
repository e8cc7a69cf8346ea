/**
 * A model that calls each offered tool of the given names once, and then answers. It serves any number of runs.
 */
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { CAPABILITIES } from '../../imports/testing/capabilities';
import { answer, calling, eventsOf } from '../../imports/testing/responses';

export function callingProvider(...names: readonly string[]): ILLMProvider {
  const respond = ({ input, tools = [] }: GenerateOptions): LLMResponse => {
    const hasResults =
      typeof input !== 'string' &&
      input.some((item) => typeof item === 'object' && 'type' in item && item.type === 'function_call_output');
    const offered = tools.flatMap((tool) =>
      'name' in tool && typeof tool.name === 'string' && names.includes(tool.name) ? [{ name: tool.name }] : [],
    );
    return hasResults || offered.length === 0 ? answer('Done.') : calling(...offered);
  };
  return {
    getProviderName: () => 'calling',
    generate: (_userId, options) => Promise.resolve(respond(options)),
    async *stream(_userId, options) {
      await Promise.resolve();
      yield* eventsOf(respond(options));
    },
    validateAccess: () => Promise.resolve({ valid: true }),
    getCapabilities: () => CAPABILITIES,
  };
}
