/** Reads views of runs from the journal's documents: the published fields and no others. */
import type { DocumentCollection } from '../../../../../database/DocumentCollection';
import type { RunFilter, RunViewReader, ToolCounts } from '../../../domain/interfaces/RunViewReader';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { RunDetailView, RunPlanView, RunView, ToolCallView, UsageView } from '../../../domain/types/RunViews';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { RUNS, TOOL_CALLS } from './runDocuments';
import { RUN_ITEMS, RunTranscripts } from './RunTranscripts';
import type { RunDocument, ToolCallDocument } from './runDocuments';
import { isFunctionTool } from '../../../domain/entities/Tool';
import type { RunPlan } from '../../../domain/types/RunRecords';

type UsageField = `usage.${keyof UsageView}`;
type UnpricedField = `unpriced.${keyof NonNullable<RunView['unpriced']>}`;
type BudgetField = `budget.${keyof NonNullable<RunView['budget']>}`;
type ParkedField = `parked.${keyof NonNullable<RunView['parked']>}`;
type AwaitedField = `awaitedTools.${keyof NonNullable<RunView['awaitedTools']>}`;
type ErrorField = `error.${keyof NonNullable<RunView['error']>}`;

/** The fields that `ai.runs` publishes. */
export const RUN_FIELDS = {
  _id: 1,
  userId: 1,
  providerId: 1,
  model: 1,
  state: 1,
  createdAt: 1,
  startedAt: 1,
  endedAt: 1,
  iterations: 1,
  'usage.input_tokens': 1,
  'usage.output_tokens': 1,
  'usage.total_tokens': 1,
  'usage.cached_tokens': 1,
  'usage.reasoning_tokens': 1,
  cost: 1,
  'budget.calls': 1,
  'budget.tokens': 1,
  'budget.money': 1,
  'unpriced.calls': 1,
  'unpriced.models': 1,
  'unpriced.reasons': 1,
  models: 1,
  tools: 1,
  duration: 1,
  'error.code': 1,
  'error.message': 1,
  'error.retryable': 1,
  'parked.reason': 1,
  'parked.message': 1,
  'parked.at': 1,
  'awaitedTools.names': 1,
  'awaitedTools.since': 1,
  missingTools: 1,
  changedTools: 1,
  title: 1,
  conversationId: 1,
  parentExecutionId: 1,
  parentCallId: 1,
  tags: 1,
  metadata: 1,
  rating: 1,
  comment: 1,
  ratedBy: 1,
  ratedAt: 1,
} as const satisfies Record<
  | Exclude<keyof RunView, 'usage' | 'error' | 'parked' | 'awaitedTools' | 'budget' | 'unpriced'>
  | UsageField
  | ErrorField
  | ParkedField
  | AwaitedField
  | BudgetField
  | UnpricedField,
  1
>;

/** The fields that `ai.run` publishes. */
export const RUN_DETAIL_FIELDS = { ...RUN_FIELDS, input: 1, output: 1, transcript: 1 } as const satisfies Record<
  Exclude<keyof RunDetailView, keyof RunView | 'outputState'>,
  1
>;

export const TOOL_CALL_FIELDS = {
  _id: 1,
  executionId: 1,
  callId: 1,
  name: 1,
  blocking: 1,
  state: 1,
  createdAt: 1,
  approvalRequestedAt: 1,
  decidedBy: 1,
  startTime: 1,
  endTime: 1,
  executionTime: 1,
  progress: 1,
  note: 1,
  error: 1,
  arguments: 1,
  result: 1,
  waiting: 1,
  expiresAt: 1,
  argumentsHash: 1,
  argumentsLength: 1,
  input: 1,
  answers: 1,
} as const satisfies Record<keyof ToolCallView, 1>;

/** The fields of calls in lists, without the arguments and results, which may be long. */
export const TOOL_CALL_SUMMARY_FIELDS = {
  _id: 1,
  executionId: 1,
  callId: 1,
  name: 1,
  blocking: 1,
  state: 1,
  waiting: 1,
} as const satisfies Partial<Record<keyof ToolCallView, 1>>;

export class DocumentRunViews implements RunViewReader {
  private readonly documents: DocumentCollection<RunDocument>;
  private readonly calls: DocumentCollection<ToolCallDocument>;
  private readonly transcripts: RunTranscripts;

  constructor(database: Pick<DocumentDatabase, 'collection'>) {
    this.documents = database.collection(RUNS);
    this.calls = database.collection(TOOL_CALLS);
    this.transcripts = new RunTranscripts(database.collection(RUN_ITEMS));
  }

  runs(filter: RunFilter, limit: number): Promise<readonly RunView[]> {
    return this.documents.find(runSelector(filter), { sort: { createdAt: -1 }, limit, fields: RUN_FIELDS });
  }

  async run(executionId: string): Promise<RunDetailView | undefined> {
    const fields = { ...RUN_DETAIL_FIELDS, transcriptItems: 1 } as const;
    const found = await this.documents.findOne({ _id: executionId }, { fields });
    if (found === undefined) return undefined;
    const { output: _output, transcriptItems: _items, ...run } = found;
    return { ...run, transcript: await this.transcripts.read(found) };
  }

  async plan(executionId: string): Promise<RunPlanView | undefined> {
    const document = await this.documents.findOne({ _id: executionId }, { fields: { plan: 1 } });
    return document === undefined ? undefined : toPlanView(document.plan);
  }

  async ownerOf(executionId: string): Promise<string | undefined> {
    return (await this.documents.findOne({ _id: executionId }, { fields: { userId: 1 } }))?.userId;
  }

  toolCalls(executionId: string, limit: number): Promise<readonly ToolCallView[]> {
    return this.calls.find({ executionId }, { sort: { createdAt: 1 }, limit, fields: TOOL_CALL_FIELDS });
  }

  async toolCounts({ userId }: Pick<RunFilter, 'userId'>): Promise<ReadonlyMap<string, ToolCounts>> {
    const rows = await this.calls.aggregate(userId === undefined ? {} : { userId }, {
      by: { name: 'name', state: 'state' },
    });
    const counts = new Map<string, ToolCounts>();
    for (const { key, count } of rows) {
      const name = String(key['name']);
      counts.set(name, { ...counts.get(name), [String(key['state'])]: count });
    }
    return counts;
  }
}

export function runSelector({ since, ...equal }: RunFilter): Readonly<Record<string, unknown>> {
  return omitUndefined({ ...equal, createdAt: since === undefined ? undefined : { $gte: since } });
}

/** @param stored JSON of the RunPlan */
function toPlanView(stored: string): RunPlanView {
  // The run store wrote it.
  const { options, tools, limits } = JSON.parse(stored) as RunPlan;
  const { instructions, temperature, max_output_tokens: maxOutputTokens, reasoning, response_format: format } = options;
  return omitUndefined({
    instructions,
    temperature,
    maxOutputTokens,
    reasoning: typeof reasoning?.effort === 'string' ? reasoning.effort : undefined,
    schema: format?.type === 'json_schema' ? format.schema : undefined,
    tools: tools.flatMap((tool) => (typeof tool === 'string' ? [tool] : [])),
    otherTools: tools.flatMap((tool) =>
      typeof tool === 'string' ? [] : [isFunctionTool(tool) ? tool.name : tool.type],
    ),
    limits,
  });
}
