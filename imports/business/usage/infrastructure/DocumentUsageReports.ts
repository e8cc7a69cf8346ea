/** Usage reports from the request log and the tool calls, computed by the database. */
import type {
  AggregateRow,
  Aggregation,
  DocumentCollection,
  Selector,
  StoredDocument,
} from '../../../database/DocumentCollection';
import type { UsageReader } from '../domain/UsageReader';
import type { UsageGroup, UsageQuery, UsageReport } from '../domain/UsageReports';
import { UsageTally } from './UsageTally';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';

/** The groups of a report. Those with fewer requests are summed up. */
const MAX_GROUPS = 8;
/** So many names are counted one by one. Of more, those outside the groups are counted together, in a second pass. */
const MAX_NAMES = 2 * MAX_GROUPS;
const WIDTH = { hour: 3_600_000, day: 86_400_000 } as const;

interface Source {
  readonly collection: DocumentCollection<StoredDocument>;
  /** The field with the time, and those by which it is grouped. */
  readonly time: string;
  readonly state: string;
  readonly unpriced?: string;
  readonly sum: Readonly<Record<string, string>>;
  readonly buckets: Readonly<Partial<Record<'duration' | 'timeToFirstToken', string>>>;
  readonly hasTokens: boolean;
}

export class DocumentUsageReports implements UsageReader {
  private readonly requests: Source;
  private readonly calls: Source;

  /** @param requests the log of model calls */
  constructor(requests: DocumentCollection<StoredDocument>, calls: DocumentCollection<StoredDocument>) {
    this.requests = {
      collection: requests,
      time: 'at',
      state: 'state',
      unpriced: 'unpriced',
      sum: {
        input: 'usage.input_tokens',
        cached: 'usage.input_tokens_details.cached_tokens',
        cacheWrite: 'usage.input_tokens_details.cache_write_tokens',
        output: 'usage.output_tokens',
        reasoning: 'usage.output_tokens_details.reasoning_tokens',
        cost: 'cost',
      },
      buckets: { duration: 'durationBucket', timeToFirstToken: 'timeToFirstTokenBucket' },
      hasTokens: true,
    };
    this.calls = {
      collection: calls,
      time: 'createdAt',
      state: 'state',
      sum: {},
      buckets: { duration: 'durationBucket' },
      hasTokens: false,
    };
  }

  async report(query: UsageQuery): Promise<UsageReport> {
    const source = query.groupBy === 'tool' ? this.calls : this.requests;
    const selector = toSelector(source, query);
    const path = query.groupBy === undefined ? undefined : GROUP_PATHS[query.groupBy];
    const names = path === undefined ? [] : await namesOf(source, selector, path);
    const top = names.slice(0, MAX_GROUPS);
    const tally = new UsageTally({ intervals: intervalsOf(query), hasTokens: source.hasTokens });
    const countAll = (selected: Selector, group?: string): Promise<void> =>
      count(source, selected, query, group, (row, kind) => tally.add(row, kind, groupOf(row, path, group, top)));
    if (path === undefined) await countAll(selector);
    else if (names.length <= MAX_NAMES) await countAll(selector, path);
    else {
      await countAll({ ...selector, [path]: { $in: top } }, path);
      await countAll({ ...selector, [path]: { $nin: top } });
    }
    const report = tally.report(top, names.length - top.length);
    return query.groupBy === 'token' ? { ...report, groups: await this.labelled(report.groups) } : report;
  }

  /** With the tokens' names as of their last request. */
  private labelled(groups: UsageReport['groups']): Promise<UsageReport['groups']> {
    return Promise.all(
      groups.map(async (group) => {
        if (group.name === null) return group;
        const fields = { fields: { tokenName: 1 }, sort: { at: -1 } } as const;
        const last = await this.requests.collection.findOne({ tokenId: group.name }, fields);
        const label = last !== undefined && 'tokenName' in last ? last.tokenName : undefined;
        return typeof label === 'string' ? { ...group, label } : group;
      }),
    );
  }
}

const GROUP_PATHS = {
  model: 'model',
  provider: 'providerId',
  user: 'userId',
  token: 'tokenId',
  team: 'team',
  tool: 'name',
} as const satisfies Record<UsageGroup, string>;

function toSelector({ time }: Source, query: UsageQuery): Selector {
  const { from, to, userId, providerId, model, tokenId, team, tool } = query;
  return omitUndefined({
    [time]: { $gte: from, $lt: to },
    userId,
    providerId,
    model,
    tokenId,
    team,
    name: tool,
  });
}

/** Lists the names at the path, most frequent first. */
async function namesOf({ collection }: Source, selector: Selector, path: string): Promise<readonly (string | null)[]> {
  const rows = await collection.aggregate(selector, { by: { name: path } });
  return rows.map(nameOf);
}

/** @param group by which the row was counted */
function groupOf(
  row: AggregateRow,
  path: string | undefined,
  group: string | undefined,
  top: readonly (string | null)[],
): { readonly name: string | null } | 'others' | undefined {
  if (path === undefined) return undefined;
  const name = nameOf(row);
  return group !== undefined && top.includes(name) ? { name } : 'others';
}

function nameOf({ key: { name = null } }: AggregateRow): string | null {
  return name === null ? null : String(name);
}

type RowKind = 'figures' | 'duration' | 'timeToFirstToken';

/** Counts by interval, and by the buckets of durations, from which the percentiles follow. */
async function count(
  { collection, time, state, unpriced, sum, buckets }: Source,
  selector: Selector,
  { interval, utcOffset }: UsageQuery,
  group: string | undefined,
  add: (row: AggregateRow, kind: RowKind) => void,
): Promise<void> {
  const by: NonNullable<Aggregation['by']> = omitUndefined({
    at: { path: time, width: WIDTH[interval], offset: utcOffset * 60_000 },
    name: group,
  });
  const figures = { ...by, state, ...omitUndefined({ unpriced }) };
  for (const row of await collection.aggregate(selector, { by: figures, sum })) add(row, 'figures');
  for (const kind of ['duration', 'timeToFirstToken'] as const) {
    const bucket = buckets[kind];
    if (bucket === undefined) continue;
    const known = { ...selector, [bucket]: { $exists: true } };
    for (const row of await collection.aggregate(known, { by: { ...by, bucket } })) add(row, kind);
  }
}

function intervalsOf({ from, to, interval, utcOffset }: UsageQuery): readonly number[] {
  const width = WIDTH[interval];
  const offset = utcOffset * 60_000;
  const first = Math.floor((from + offset) / width) * width - offset;
  return Array.from({ length: Math.ceil((to - first) / width) }, (_, at) => first + at * width);
}
