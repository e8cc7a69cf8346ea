/** Reads views of runs from the journal's documents: the published fields and no others. */
import type { DocumentCollection } from '../../../domain/interfaces/DocumentCollection';
import type { RunFilter, RunViewReader, ToolCounts } from '../../../domain/interfaces/RunViewReader';
import type { RunDetailView, RunView, ToolCallView, UsageView } from '../../../domain/types/RunViews';
import type { DocumentDatabase } from '../databases/DocumentDatabase';
import { RUNS, TOOL_CALLS } from './runDocuments';
import type { RunDocument, ToolCallDocument } from './runDocuments';

type UsageField = `usage.${keyof UsageView}`;
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
  'error.code': 1,
  'error.message': 1,
  title: 1,
  conversationId: 1,
} as const satisfies Record<Exclude<keyof RunView, 'usage' | 'error'> | UsageField | ErrorField, 1>;

/** The fields that `ai.run` publishes. */
export const RUN_DETAIL_FIELDS = { ...RUN_FIELDS, input: 1, transcript: 1 } as const satisfies Record<
  Exclude<keyof RunDetailView, keyof RunView>,
  1
>;

export const TOOL_CALL_FIELDS = {
  _id: 1,
  executionId: 1,
  callId: 1,
  name: 1,
  blocking: 1,
  state: 1,
  startTime: 1,
  endTime: 1,
  executionTime: 1,
  progress: 1,
  note: 1,
  error: 1,
  arguments: 1,
  result: 1,
} as const satisfies Record<keyof ToolCallView, 1>;

/** The fields of calls in lists, without the arguments and results, which may be long. */
export const TOOL_CALL_SUMMARY_FIELDS = {
  _id: 1,
  executionId: 1,
  callId: 1,
  name: 1,
  blocking: 1,
  state: 1,
} as const satisfies Partial<Record<keyof ToolCallView, 1>>;

/** Older calls are not counted. */
const MAX_COUNTED_CALLS = 5_000;

export class DocumentRunViews implements RunViewReader {
  private readonly documents: DocumentCollection<RunDocument>;
  private readonly calls: DocumentCollection<ToolCallDocument>;

  constructor(database: Pick<DocumentDatabase, 'collection'>) {
    this.documents = database.collection(RUNS);
    this.calls = database.collection(TOOL_CALLS);
  }

  runs(filter: RunFilter, limit: number): Promise<readonly RunView[]> {
    return this.documents.find(runSelector(filter), { sort: { createdAt: -1 }, limit, fields: RUN_FIELDS });
  }

  run(executionId: string): Promise<RunDetailView | undefined> {
    return this.documents.findOne({ _id: executionId }, { fields: RUN_DETAIL_FIELDS });
  }

  async ownerOf(executionId: string): Promise<string | undefined> {
    return (await this.documents.findOne({ _id: executionId }, { fields: { userId: 1 } }))?.userId;
  }

  toolCalls(executionId: string, limit: number): Promise<readonly ToolCallView[]> {
    return this.calls.find({ executionId }, { sort: { createdAt: 1 }, limit, fields: TOOL_CALL_FIELDS });
  }

  async toolCounts({ userId }: Pick<RunFilter, 'userId'>): Promise<ReadonlyMap<string, ToolCounts>> {
    const calls = await this.calls.find(userId === undefined ? {} : { userId }, {
      sort: { createdAt: -1 },
      limit: MAX_COUNTED_CALLS,
      fields: { name: 1, state: 1 },
    });
    const counts = new Map<string, ToolCounts>();
    for (const { name, state } of calls) {
      const ofTool = counts.get(name) ?? {};
      counts.set(name, { ...ofTool, [state]: (ofTool[state] ?? 0) + 1 });
    }
    return counts;
  }
}

export function runSelector({ userId, state, conversationId, since }: RunFilter): Readonly<Record<string, unknown>> {
  return {
    ...(userId === undefined ? {} : { userId }),
    ...(state === undefined ? {} : { state }),
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(since === undefined ? {} : { createdAt: { $gte: since } }),
  };
}
