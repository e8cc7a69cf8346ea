/** Lists and sums up runs of any number, and stores what people note about them. */
import type { CallWait, ToolCallState } from '../../../domain/entities/Tool';
import type { RunState } from '../../../domain/entities/Run';
import type { DocumentCollection, Selector } from '../../../../../database/DocumentCollection';
import type {
  RatingNote,
  RunLabels,
  RunListFilter,
  RunListReader,
  RunPage,
  RunPageRequest,
} from '../../../domain/interfaces/RunViewReader';
import type { ListedRun, RunRating, RunSummary } from '../../../domain/types/RunViews';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { findPage } from '../../../../../database/query/findPage';
import { RUN_FIELDS } from './DocumentRunViews';
import { RUNS, TOOL_CALLS } from './runDocuments';
import type { RunDocument, ToolCallDocument } from './runDocuments';
import { runWaitOf } from '../../../domain/entities/runWaitOf';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { runListSelector } from './runListSelector';

const SORT_FIELDS = {
  createdAt: 'createdAt',
  cost: 'cost',
  duration: 'duration',
  tokens: 'usage.total_tokens',
} as const;
/** Waiting runs, models and reasons beyond these are left out. */
const MAX_WAITING_RUNS = 10_000;
const MAX_LISTED = 20;

export class DocumentRunList implements RunListReader, RunLabels {
  private readonly runs: DocumentCollection<RunDocument>;
  private readonly calls: DocumentCollection<ToolCallDocument>;

  constructor(database: Pick<DocumentDatabase, 'collection'>) {
    this.runs = database.collection(RUNS);
    this.calls = database.collection(TOOL_CALLS);
  }

  /** Creates an index for each filter, followed by the order of the list. Safe to call again. */
  async ready(): Promise<void> {
    const order = { createdAt: -1, _id: -1 } as const;
    await this.runs.ensureIndex(order);
    for (const field of FILTERED_FIELDS) await this.runs.ensureIndex({ [field]: 1, ...order });
    await this.runs.ensureIndex({ userId: 1, state: 1, ...order });
    for (const field of ['cost', 'duration', 'usage.total_tokens'])
      await this.runs.ensureIndex({ [field]: -1, _id: -1 });
  }

  async page(filter: RunListFilter, { sort, order, limit, after }: RunPageRequest): Promise<RunPage> {
    const selector = await this.selectorOf(filter);
    const { rows, next } = await findPage(this.runs, selector, {
      sort: SORT_FIELDS[sort],
      order,
      limit,
      fields: RUN_FIELDS,
      after,
    });
    // A search scans all runs, so the only page is not counted once more.
    const isOnlyPage = after === undefined && next === undefined;
    const total = isOnlyPage ? rows.length : await this.runs.count(selector);
    const waits = await this.waitsOf(rows.map(({ _id }) => _id));
    const runs = rows.map((row): ListedRun => {
      const waitingFor = runWaitOf(row) ?? waits.get(row._id);
      return waitingFor === undefined ? row : { ...row, waitingFor };
    });
    return omitUndefined({ runs, total, next });
  }

  async summary(filter: RunListFilter): Promise<RunSummary> {
    const selector = await this.selectorOf(filter);
    const states = await this.runs.aggregate(selector, { by: { state: 'state' }, sum: SUMS });
    const sumOf = (name: keyof typeof SUMS): number =>
      states.reduce((sum, row) => sum + (row.sum[name]?.total ?? 0), 0);
    const runsWith = (name: keyof typeof SUMS): number =>
      states.reduce((sum, row) => sum + (row.sum[name]?.count ?? 0), 0);
    const total = states.reduce((sum, { count }) => sum + count, 0);
    const unpricedRuns = runsWith('unpricedCalls');
    const unpriced = { $and: [selector, { unpriced: { $exists: true } }] };
    const [olderRuns, models, reasons] = await Promise.all([
      runsWith('cost') === total ? 0 : this.runs.count({ $and: [selector, UNPRICED_IN_OLDER_VERSIONS] }),
      unpricedRuns === 0 ? [] : this.listed(unpriced, 'unpriced.models'),
      unpricedRuns === 0 ? [] : this.listed(unpriced, 'unpriced.reasons'),
    ]);
    return {
      total,
      // The store writes no other states.
      states: Object.fromEntries(states.map(({ key, count }) => [key['state'] as RunState, count])),
      usage: {
        input_tokens: sumOf('input_tokens'),
        output_tokens: sumOf('output_tokens'),
        total_tokens: sumOf('total_tokens'),
        cached_tokens: sumOf('cached_tokens'),
        reasoning_tokens: sumOf('reasoning_tokens'),
      },
      cost: sumOf('cost'),
      unpriced: { runs: unpricedRuns + olderRuns, models, reasons },
    };
  }

  async rate(
    executionId: string,
    rating: RunRating | null,
    { comment, by: ratedBy, at: ratedAt }: RatingNote,
  ): Promise<void> {
    const stays = omitUndefined({ rating: rating ?? undefined, comment });
    const gone = { ...(rating === null ? { rating: true } : {}), ...(comment === undefined ? { comment: true } : {}) };
    const $unset = gone as Readonly<Record<string, true>>;
    await this.runs.update({ _id: executionId }, { $set: { ...stays, ratedBy, ratedAt }, $unset });
  }

  async tag(executionId: string, tags: readonly string[]): Promise<void> {
    await this.runs.update({ _id: executionId }, tags.length === 0 ? { $unset: { tags: true } } : { $set: { tags } });
  }

  private async selectorOf(filter: RunListFilter): Promise<Selector> {
    return runListSelector(filter, filter.waiting === undefined ? [] : await this.waitingRuns(filter));
  }

  private async waitingRuns({ userId }: RunListFilter): Promise<readonly string[]> {
    const rows = await this.calls.aggregate(omitUndefined({ ...WAITING_CALLS, userId }), {
      by: { executionId: 'executionId' },
      limit: MAX_WAITING_RUNS,
    });
    return rows.map(({ key }) => String(key['executionId']));
  }

  /** What each of the runs waits for; of several things, the one that comes first in `WAITS`. */
  private async waitsOf(executionIds: readonly string[]): Promise<ReadonlyMap<string, CallWait>> {
    if (executionIds.length === 0) return new Map();
    const calls = await this.calls.find(
      { executionId: { $in: executionIds }, ...WAITING_CALLS },
      { fields: { executionId: 1, state: 1 } },
    );
    const waits = new Map<string, CallWait>();
    for (const { executionId, state } of calls) {
      const wait = WAIT_OF_STATE[state] ?? 'external';
      const other = waits.get(executionId);
      if (other === undefined || WAITS.indexOf(wait) < WAITS.indexOf(other)) waits.set(executionId, wait);
    }
    return waits;
  }

  /** The most frequent entries of a list. */
  private async listed(selector: Selector, path: string): Promise<readonly string[]> {
    const rows = await this.runs.aggregate(selector, {
      by: { entry: path },
      unwind: path,
      limit: MAX_LISTED,
    });
    return rows.flatMap(({ key: { entry } }) => (typeof entry === 'string' ? [entry] : []));
  }
}

const WAITS: readonly CallWait[] = ['approval', 'review', 'external'];
const WAIT_OF_STATE: Readonly<Partial<Record<ToolCallState, CallWait>>> = {
  awaiting_approval: 'approval',
  needs_review: 'review',
};
/** Older versions stored only the states, not what a call waits for. */
const WAITING_CALLS = {
  $or: [{ state: { $in: Object.keys(WAIT_OF_STATE) } }, { waiting: 'external', state: 'executing' }],
};

const FILTERED_FIELDS = [
  'userId',
  'state',
  'conversationId',
  'providerId',
  'model',
  'models',
  'tools',
  'tags',
  'rating',
  'words',
  'usedWords',
] as const;

const SUMS = {
  cost: 'cost',
  unpricedCalls: 'unpriced.calls',
  input_tokens: 'usage.input_tokens',
  output_tokens: 'usage.output_tokens',
  total_tokens: 'usage.total_tokens',
  cached_tokens: 'usage.cached_tokens',
  reasoning_tokens: 'usage.reasoning_tokens',
} as const;

/** Older versions recorded no reason. */
const UNPRICED_IN_OLDER_VERSIONS = {
  cost: null,
  unpriced: { $exists: false },
  'usage.total_tokens': { $gt: 0 },
};
