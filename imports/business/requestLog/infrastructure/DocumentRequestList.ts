/** Reads the stored request log: pages of any filter, and single entries with their bodies. */
import type { DocumentCollection, FindOptions, Selector } from '../../../database/DocumentCollection';
import type { RequestListFilter, RequestPage, RequestPageRequest, RequestReader } from '../domain/RequestReader';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { RequestBodiesView, RequestView } from '../../ai/domain/types/RequestRecords';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';
import { findPage } from '../../../database/query/findPage';
import { REQUEST_BODIES, REQUESTS } from './DocumentRequestStore';
import type { RequestBodiesDocument, RequestDocument } from './DocumentRequestStore';

const SORT_FIELDS = { at: 'at', cost: 'cost', duration: 'duration', tokens: 'usage.total_tokens' } as const;

/** Everything but what serves the database. */
const FIELDS = {
  _id: 1,
  at: 1,
  userId: 1,
  source: 1,
  api: 1,
  tokenId: 1,
  tokenName: 1,
  team: 1,
  executionId: 1,
  iteration: 1,
  requestedModel: 1,
  route: 1,
  httpRequestId: 1,
  isStream: 1,
  providerId: 1,
  model: 1,
  state: 1,
  status: 1,
  error: 1,
  finishReason: 1,
  attempts: 1,
  timeToFirstToken: 1,
  timeToFirstTokenBucket: 1,
  duration: 1,
  durationBucket: 1,
  usage: 1,
  cost: 1,
  unpriced: 1,
  cached: 1,
  annotations: 1,
  vendorRequestId: 1,
  responseId: 1,
  warnings: 1,
  prompt: 1,
  hasBodies: 1,
} as const satisfies Record<keyof RequestView, 1>;

export class DocumentRequestList implements RequestReader {
  private readonly entries: DocumentCollection<RequestDocument>;
  private readonly bodies: DocumentCollection<RequestBodiesDocument>;

  constructor(database: Pick<DocumentDatabase, 'collection'>) {
    this.entries = database.collection(REQUESTS);
    this.bodies = database.collection(REQUEST_BODIES);
  }

  async page(filter: RequestListFilter, { sort, ...page }: RequestPageRequest): Promise<RequestPage> {
    const selector = requestSelector(filter);
    const [total, { rows, next }] = await Promise.all([
      this.entries.count(selector),
      findPage(this.entries, selector, { ...page, sort: SORT_FIELDS[sort], fields: fieldsBeside(SORT_FIELDS[sort]) }),
    ]);
    return omitUndefined({ requests: rows, total, next });
  }

  find(id: string): Promise<RequestView | undefined> {
    return this.entries.findOne({ _id: id }, { fields: FIELDS });
  }

  async bodiesOf(id: string): Promise<RequestBodiesView | undefined> {
    const found = await this.bodies.findOne({ _id: id });
    if (found === undefined) return undefined;
    const { request, response, exchanges } = found;
    return omitUndefined({ request, response, exchanges });
  }

  ofRun(executionId: string, limit: number): Promise<readonly RequestView[]> {
    return this.entries.find({ executionId }, { sort: { at: 1, _id: 1 }, limit, fields: FIELDS });
  }
}

/** MongoDB refuses a projection of both a field and a part of it. */
function fieldsBeside(sort: string): NonNullable<FindOptions['fields']> {
  const [parent = sort] = sort.split('.');
  if (parent === sort) return FIELDS;
  const { usage: _usage, ...others } = FIELDS;
  return { ...others, ...USAGE_FIELDS };
}

const USAGE_FIELDS = {
  'usage.input_tokens': 1,
  'usage.output_tokens': 1,
  'usage.total_tokens': 1,
  'usage.input_tokens_details': 1,
  'usage.output_tokens_details': 1,
  'usage.server_tool_use': 1,
  'usage.estimated': 1,
} as const satisfies Record<`usage.${keyof RequestView['usage']}`, 1>;

function requestSelector(filter: RequestListFilter): Selector {
  const {
    userId,
    search = '',
    searchedUsers = [],
    states,
    source,
    api,
    providerId,
    model,
    tokenId,
    executionId,
  } = filter;
  const { from, to, minCost, maxCost, minDuration, maxDuration } = filter;
  const named = Object.entries({ userId, source, api, providerId, tokenId, executionId });
  const conditions: readonly Selector[] = [
    ...named.flatMap(([field, value]) => (value === undefined ? [] : [{ [field]: value }])),
    ...(states === undefined ? [] : [{ state: states.length === 1 ? states[0] : { $in: states } }]),
    ...(model === undefined ? [] : [{ $or: [{ model }, { requestedModel: model }] }]),
    ...between('at', from, to),
    ...between('cost', minCost, maxCost),
    ...between('duration', minDuration, maxDuration),
    ...(search === '' ? [] : [foundBy(search, searchedUsers)]),
  ].filter((condition) => Object.keys(condition).length > 0);
  if (conditions.length === 0) return {};
  return conditions.length === 1 ? (conditions[0] ?? {}) : { $and: conditions };
}

function foundBy(search: string, userIds: readonly string[]): Selector {
  const words = wordsIn(search).map((word) => ({ $or: [{ words: { $prefix: word } }, { _id: { $prefix: word } }] }));
  const byWords = words.length === 0 ? {} : { $and: words };
  return userIds.length === 0 ? byWords : { $or: [byWords, { userId: { $in: userIds } }] };
}

function between(field: string, least: number | undefined, greatest: number | undefined): readonly Selector[] {
  if (least === undefined && greatest === undefined) return [];
  const range = omitUndefined({ $gte: least, $lte: greatest });
  return [{ [field]: range }];
}

/** Words of a query that count. */
const MAX_WORDS = 8;

function wordsIn(search: string): readonly string[] {
  const words = search.normalize('NFKC').toLowerCase().toWellFormed().split(/\s+/);
  return words.filter((word) => word !== '').slice(0, MAX_WORDS);
}
