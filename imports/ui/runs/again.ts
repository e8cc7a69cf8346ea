/** Starts from a run: repeats it, with edits, or from one of its turns. */
import { textOfContent } from '../../business/ai/domain/entities/Content';
import { isFunctionTool } from '../../business/ai/domain/entities/Tool';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { CompactionSetting } from '../../business/ai/domain/types/Compaction';
import type { RunExport } from '../../business/ai/domain/types/RunExport';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { StartRunRequest } from '../data/runRequests';

/** Fields of a run's metadata: the run that it was started from, and the turn of a fork. */
export const STARTED_FROM = 'startedFrom';
export const FROM_TURN = 'fromTurn';

/** What a person may change. Texts are as typed: '' means absent. */
export interface AgainDraft {
  readonly providerId: string;
  readonly model: string;
  readonly instructions: string;
  /** The last message of the user. In a fork, a message that is added after what came before the turn. */
  readonly prompt: string;
  readonly temperature: string;
  readonly maxOutputTokens: string;
  readonly tools: ReadonlySet<string>;
}

/** @param turn of a fork: the new run continues with what came before this turn, 1 being the first */
export function draftOf({ run, plan, input }: RunExport, turn?: number): AgainDraft {
  const { options, tools } = plan;
  return {
    providerId: run.providerId,
    model: run.model ?? '',
    instructions: options.instructions ?? '',
    prompt: turn === undefined ? promptOf(input) : '',
    temperature: options.temperature === undefined ? '' : String(options.temperature),
    maxOutputTokens: options.max_output_tokens === undefined ? '' : String(options.max_output_tokens),
    tools: new Set(tools.filter((tool) => typeof tool === 'string')),
  };
}

/** The text of the user's last message. */
export function promptOf(items: readonly Item[]): string {
  const message = items.findLast((item) => item.type === 'message' && item.role === 'user');
  return message?.type === 'message' ? textOfContent(message.content) : '';
}

/** What a repetition cannot carry over, in words. */
export function lostParts({ plan: { options, tools } }: RunExport): readonly string[] {
  const { response_format: format, tool_choice: choice } = options;
  return [
    ...tools.flatMap((tool) =>
      typeof tool === 'string' || isFunctionTool(tool) ? [] : [`the server tool ${tool.type}`],
    ),
    ...LOST_OPTIONS.filter((name) => options[name] !== undefined).map((name) => name.replaceAll('_', ' ')),
    ...(format?.type === 'json_object' ? ['the response format'] : []),
    ...(choice === undefined || choice === 'auto' ? [] : ['the tool choice']),
  ];
}

const LOST_OPTIONS = ['top_p', 'top_k', 'seed', 'presence_penalty', 'frequency_penalty', 'stop', 'vendor'] as const;

export function toStartRequest(
  exported: RunExport,
  draft: AgainDraft,
  { requestId, turn }: { readonly requestId: string; readonly turn?: number },
): StartRunRequest {
  const { plan, run } = exported;
  const { response_format: format, reasoning } = plan.options;
  const temperature = Number(draft.temperature);
  const maxOutputTokens = Number(draft.maxOutputTokens);
  const effort = reasoning?.effort ?? undefined;
  return omitUndefined({
    requestId,
    providerId: draft.providerId,
    tools: [...draft.tools],
    ...inputOf(exported, draft, turn),
    model: draft.model.trim() === '' ? undefined : draft.model.trim(),
    instructions: draft.instructions === '' ? undefined : draft.instructions,
    temperature: draft.temperature === '' ? undefined : temperature,
    maxOutputTokens: draft.maxOutputTokens === '' ? undefined : maxOutputTokens,
    reasoning: effort,
    schema: format?.type === 'json_schema' ? format.schema : undefined,
    tags: run.tags,
    metadata: { ...run.metadata, [STARTED_FROM]: run.executionId, ...omitUndefined({ [FROM_TURN]: turn }) },
    maxIterations: plan.limits.maxIterations <= 100 ? plan.limits.maxIterations : undefined,
    durability: plan.durability,
    compaction: plan.compaction === undefined ? undefined : compactionOf(plan.compaction),
  });
}

/** Who writes the summaries and what is pinned is not for clients to say. */
function compactionOf(setting: CompactionSetting): NonNullable<StartRunRequest['compaction']> {
  if (setting === false) return false;
  const { strategy, threshold, window } = setting;
  return omitUndefined({ strategy, threshold, window });
}

function inputOf(
  { run, input }: RunExport,
  { prompt }: AgainDraft,
  turn: number | undefined,
): Pick<StartRunRequest, 'input' | 'forkOf' | 'startedFrom'> {
  const { executionId } = run;
  if (turn !== undefined) return { forkOf: { executionId, turn }, ...(prompt === '' ? {} : { input: prompt }) };
  // What comes before the first turn is the input, files included.
  if (prompt === promptOf(input)) return { forkOf: { executionId, turn: 1 } };
  const last = input.findLastIndex((item) => item.type === 'message' && item.role === 'user');
  return {
    input: input.map((item, index) => (index === last ? userMessage(prompt) : item)),
    startedFrom: executionId,
  };
}

function userMessage(text: string): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
