/**
 * A model that calls each offered tool in one turn, and then answers with what the tools returned. It serves any number
 * of runs.
 */
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { CAPABILITIES } from '../../imports/testing/capabilities';
import { answer, calling } from '../../imports/testing/responses';

export interface DelegatingProvider extends ILLMProvider {
  /** The ids of the runs that called the model, in order. */
  readonly calls: string[];
}

/**
 * @param times how often it calls the tools of each name in a turn
 * @param more arguments of all calls besides `input`
 */
export function delegatingProvider(times: Readonly<Record<string, number>>, more: object = {}): DelegatingProvider {
  const calls: string[] = [];
  const respond = ({ input, tools = [] }: GenerateOptions): LLMResponse => {
    const items = typeof input === 'string' ? [] : input;
    const results = items.flatMap((item) =>
      typeof item === 'object' && 'type' in item && item.type === 'function_call_output'
        ? [typeof item.output === 'string' ? item.output : '']
        : [],
    );
    if (results.length > 0) return answer(results.join(', '));
    const offered = tools.flatMap((tool) => ('name' in tool ? String(tool.name) : []));
    const turn = offered.flatMap((name) =>
      Array.from({ length: times[name] ?? 0 }, (_value, index) => ({
        name,
        call_id: `call ${index}`,
        arguments: { input: `part ${index}`, ...more },
      })),
    );
    return turn.length === 0 ? answer('done') : calling(...turn);
  };
  return {
    calls,
    getProviderName: () => 'delegating',
    getCapabilities: () => CAPABILITIES,
    validateAccess: () => Promise.resolve({ valid: true }),
    stream: () => {
      throw new Error('Streaming is not expected here.');
    },
    generate: (_userId, options) => {
      calls.push(options.turn?.executionId ?? '');
      return Promise.resolve(respond(options));
    },
  };
}
