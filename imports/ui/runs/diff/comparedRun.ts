/** What is compared of a run. */
import { textOfContent } from '../../../business/ai/domain/entities/Content';
import type { ToolCall } from '../../../business/ai/domain/entities/Tool';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { RunExport } from '../../../business/ai/domain/types/RunExport';
import { sortByRequest } from '../../data/reducers/sortCalls';
import { formatCount, formatDuration } from '../../format/format';
import { formatRunCost } from '../../format/formatCost';
import { RUN_STATE_STYLES } from '../../format/stateStyles';
import { promptOf } from '../again';

export interface ComparedFact {
  readonly name: string;
  readonly value: string;
}

export interface ComparedRun {
  readonly facts: readonly ComparedFact[];
  readonly instructions: string;
  readonly prompt: string;
  readonly answer: string;
  readonly calls: readonly ToolCall[];
}

export function comparedRun({ run, plan, input, transcript, calls }: RunExport): ComparedRun {
  const { options, tools, limits } = plan;
  const { usage } = run;
  const facts: Readonly<Record<string, string>> = omitUndefined({
    State: RUN_STATE_STYLES[run.state].label,
    Error: run.error === undefined ? undefined : `${run.error.code}: ${run.error.message}`,
    Provider: run.providerId,
    Model: run.response?.model ?? run.model ?? 'the provider’s default',
    Temperature: options.temperature === undefined ? 'default' : String(options.temperature),
    Reasoning: options.reasoning?.effort ?? 'default',
    'Output tokens, at most': options.max_output_tokens === undefined ? 'default' : String(options.max_output_tokens),
    Schema: options.response_format === undefined ? 'none' : JSON.stringify(options.response_format),
    Tools: tools.map(nameOf).sort().join(', ') || 'none',
    'Turns, at most': String(limits.maxIterations),
    Turns: String(run.iterations),
    Duration:
      run.startedAt === undefined || run.endedAt === undefined ? '–' : formatDuration(run.endedAt - run.startedAt),
    'Input tokens': formatCount(usage.input_tokens),
    'Output tokens': formatCount(usage.output_tokens),
    Cost: formatRunCost(run),
  });
  return {
    facts: Object.entries(facts).map(([name, value]) => ({ name, value })),
    instructions: options.instructions ?? '',
    prompt: promptOf(input),
    answer: transcript
      .slice(input.length)
      .flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? [textOfContent(item.content)] : []))
      .join('\n\n'),
    calls: sortByRequest(calls, transcript, ({ id }) => id),
  };
}

function nameOf(tool: RunExport['plan']['tools'][number]): string {
  if (typeof tool === 'string') return tool;
  return 'name' in tool && typeof tool.name === 'string' ? tool.name : tool.type;
}
