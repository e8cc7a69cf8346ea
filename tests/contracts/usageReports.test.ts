/** Usage reports agree with a count by hand, on every database. */
import { expect } from 'chai';
import { USAGE_OPERATIONS } from '../../imports/business/usage/application/usageOperations';
import { bucketOf } from '../../imports/business/ai/domain/entities/latencyBuckets';
import {
  LLMAuthError,
  LLMPermissionError,
  LLMInvalidRequestError,
} from '../../imports/business/ai/domain/errors/LLMErrors';
import type { StoredDocument } from '../../imports/database/DocumentCollection';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { UsageFigures, UsageReport } from '../../imports/business/usage/domain/UsageReports';
import { DocumentUsageReports } from '../../imports/business/usage/infrastructure/DocumentUsageReports';
import { TOOL_CALLS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { REQUESTS as LOGGED } from '../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { bindOperations } from '../../imports/host/bindOperations';
import type { OperationsOf } from '../../imports/host/bindOperations';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 20);
/** More than are counted one by one. */
const TOKENS = 20;
const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'http' };

interface LoggedRequest extends StoredDocument {
  readonly at: number;
  readonly userId: string;
  readonly providerId?: string;
  readonly model?: string;
  readonly tokenId: string;
  readonly state: string;
  readonly duration: number;
  readonly durationBucket: number;
  readonly timeToFirstTokenBucket?: number;
  readonly cost?: number;
  readonly unpriced?: string;
  readonly usage: object;
}

/** Costs are multiples of 1/16, so that sums are exact in any order. */
function loggedRequests(count: number): readonly LoggedRequest[] {
  const random = seededRandom(4);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  return Array.from({ length: count }, (_, index) => {
    const model = pick(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm0', 'm0', undefined]);
    const duration = Math.round(50 * Math.exp(random() * 5));
    const isPriced = model !== 'm1' && model !== undefined;
    return {
      _id: `r${index}`,
      at: START + Math.floor(random() * 72 * HOUR),
      userId: pick(['ann', 'bob', 'ann']) ?? '',
      tokenId: `t${index % TOKENS}`,
      ...(model === undefined ? {} : { providerId: 'p', model }),
      state: model === undefined ? 'failed' : (pick(['completed', 'completed', 'incomplete', 'failed']) ?? ''),
      duration,
      durationBucket: bucketOf(duration),
      ...(random() < 0.5 ? { timeToFirstTokenBucket: bucketOf(duration / 4) } : {}),
      ...(isPriced ? { cost: Math.floor(random() * 64) / 16 } : {}),
      ...(model === 'm1' ? { unpriced: 'no price for model "m1"' } : {}),
      usage: {
        input_tokens: index,
        output_tokens: 2,
        input_tokens_details: { cached_tokens: 1, cache_write_tokens: 3 },
        output_tokens_details: { reasoning_tokens: 1 },
      },
    };
  });
}

const REQUESTS = loggedRequests(900);

/** The same figures, counted without a database. */
function figuresOf(requests: readonly LoggedRequest[]): UsageFigures {
  const total = (read: (request: LoggedRequest) => number): number =>
    requests.reduce((sum, request) => sum + read(request), 0);
  return {
    requests: requests.length,
    errors: requests.filter(({ state }) => state === 'failed').length,
    tokens: {
      input: total(({ _id }) => Number(_id.slice(1))),
      cached: requests.length,
      cacheWrite: 3 * requests.length,
      output: 2 * requests.length,
      reasoning: requests.length,
    },
    cost: total(({ cost = 0 }) => cost),
    unpriced: requests.filter(({ unpriced }) => unpriced !== undefined).length,
  };
}

function withoutTimes({ duration: _, timeToFirstToken: __, ...figures }: UsageFigures): UsageFigures {
  return figures;
}

/** The value of which so much of the list is no greater. */
function exactPercentile(values: readonly number[], share: number): number {
  return values.toSorted((left, right) => left - right)[Math.ceil(values.length * share) - 1] ?? NaN;
}

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(`ai.usage.report: ${name}`, () => {
    let opened: TestDatabase;
    let operations: OperationsOf<typeof USAGE_OPERATIONS>;

    before(async () => {
      opened = await open();
      await opened.database.collection<LoggedRequest>('ai_requests').insertMany(REQUESTS);
      await opened.database.collection('ai_tool_calls').insertMany(
        Array.from({ length: 40 }, (_, index) => ({
          _id: `c${index}`,
          createdAt: START + index * HOUR,
          userId: index % 2 === 0 ? 'ann' : 'bob',
          name: index % 4 === 0 ? 'search' : 'send',
          state: ['completed', 'failed', 'timeout', 'executing'][index % 4],
          ...(index % 4 === 3 ? {} : { durationBucket: bucketOf(100) }),
        })),
      );
      operations = bindOperations(USAGE_OPERATIONS, {
        usage: new DocumentUsageReports(opened.database.collection(LOGGED), opened.database.collection(TOOL_CALLS)),
      });
    });
    after(() => opened.close());

    const report = (argument: object, actor = ADMIN): Promise<UsageReport> =>
      operations['ai.usage.report'](actor, argument);
    const period = { from: START, to: START + 72 * HOUR, interval: 'hour' } as const;
    const within = (from: number, length: number): readonly LoggedRequest[] =>
      REQUESTS.filter(({ at }) => at >= from && at < from + length);

    it('sums up the period and each hour of it', async () => {
      const { intervals, all, groups, others, unpriced } = await report(period);
      expect(intervals).to.deep.equal(Array.from({ length: 72 }, (_, hour) => START + hour * HOUR));
      expect(withoutTimes(all.total)).to.deep.equal(figuresOf(REQUESTS));
      expect(all.values.map(withoutTimes)).to.deep.equal(intervals.map((at) => figuresOf(within(at, HOUR))));
      expect({ groups, others }).to.deep.equal({ groups: [], others: undefined });
      const unknown = REQUESTS.filter(({ model }) => model === 'm1').length;
      expect(unpriced).to.deep.equal([{ reason: 'no price for model "m1"', requests: unknown }]);
    });

    it('starts days at midnight of the local time, and leaves out what lies outside the period', async () => {
      const from = START + 5 * HOUR;
      const { intervals, all } = await report({ from, to: START + 70 * HOUR, interval: 'day', utcOffset: -120 });
      const first = START - 24 * HOUR + 2 * HOUR + 24 * HOUR;
      expect(intervals).to.deep.equal([first, first + 24 * HOUR, first + 48 * HOUR]);
      expect(all.values.map(({ requests }) => requests)).to.deep.equal([
        within(from, first + 24 * HOUR - from).length,
        within(first + 24 * HOUR, 24 * HOUR).length,
        within(first + 48 * HOUR, 20 * HOUR).length,
      ]);
    });

    it('groups by model, the rarest together, so that all groups add up to the whole', async () => {
      const { all, groups, others } = await report({ ...period, groupBy: 'model' });
      const counts = new Map<string | null, number>();
      for (const { model = null } of REQUESTS) counts.set(model, (counts.get(model) ?? 0) + 1);
      expect(groups).to.have.length(8);
      expect(others?.groups).to.equal(counts.size - 8);
      for (const { name: model, total, values } of groups) {
        const own = REQUESTS.filter((request) => (request.model ?? null) === model);
        expect(withoutTimes(total), String(model)).to.deep.equal(figuresOf(own));
        expect(values.reduce((sum, { requests }) => sum + requests, 0)).to.equal(own.length);
      }
      expect(groups.map(({ total }) => total.requests)).to.deep.equal(
        [...counts.values()].toSorted((left, right) => right - left).slice(0, 8),
      );
      const parts = [...groups, others!];
      expect(parts.reduce((sum, { total }) => sum + total.requests, 0)).to.equal(REQUESTS.length);
      expect(parts.reduce((sum, { total }) => sum + (total.cost ?? 0), 0)).to.equal(all.total.cost);
    });

    it('counts those of many groups, too, that it does not count one by one', async () => {
      const { all, groups, others } = await report({ ...period, groupBy: 'token' });
      expect(groups).to.have.length(8);
      expect(others?.groups).to.equal(TOKENS - 8);
      const isOther = ({ tokenId }: LoggedRequest): boolean => groups.every(({ name: token }) => token !== tokenId);
      expect(withoutTimes(others!.total)).to.deep.equal(figuresOf(REQUESTS.filter(isOther)));
      expect(others!.values.map(withoutTimes)).to.deep.equal(
        others!.values.map((_, hour) => figuresOf(within(START + hour * HOUR, HOUR).filter(isOther))),
      );
      expect(withoutTimes(all.total)).to.deep.equal(figuresOf(REQUESTS));
      expect(all.total.duration).to.deep.equal((await report(period)).all.total.duration);
    });

    it('computes percentiles to within 2.5 % of the exact ones', async () => {
      const { all, groups } = await report({ ...period, groupBy: 'user' });
      for (const [times, requests] of [
        [all.total.duration, REQUESTS],
        [groups[0]?.total.duration, REQUESTS.filter(({ userId }) => userId === groups[0]?.name)],
      ] as const) {
        const exact = requests.map(({ duration }) => duration);
        expect(times!.p50).to.be.closeTo(exactPercentile(exact, 0.5), exactPercentile(exact, 0.5) * 0.026 + 1);
        expect(times!.p95).to.be.closeTo(exactPercentile(exact, 0.95), exactPercentile(exact, 0.95) * 0.026 + 1);
      }
      expect(all.total.timeToFirstToken!.p50).to.be.lessThan(all.total.duration!.p50);
    });

    it('reports on tools: calls, failures and durations', async () => {
      const { all, groups } = await report({ ...period, interval: 'day', groupBy: 'tool' });
      const time = groups.find(({ name: tool }) => tool === 'search')?.total.duration?.p50;
      expect(time).to.be.closeTo(100, 3);
      expect(all.total).to.deep.equal({ requests: 40, errors: 20, duration: { p50: time, p95: time } });
      expect(groups.map(({ name: tool, total: { requests, errors } }) => [tool, requests, errors])).to.deep.equal([
        ['send', 30, 20],
        ['search', 10, 0],
      ]);
      const one = await report({ ...period, groupBy: 'tool', tool: 'search', userId: 'ann' });
      expect(one.all.total.requests).to.equal(10);
    });

    it('filters, and shows users their own usage only', async () => {
      const own = REQUESTS.filter(({ userId, model }) => userId === 'bob' && model === 'm0').length;
      expect((await report({ ...period, model: 'm0', userId: 'bob' })).all.total.requests).to.equal(own);
      const bob: Actor = { userId: 'bob', source: 'method' };
      expect((await report({ ...period, model: 'm0' }, bob)).all.total.requests).to.equal(own);
      expect((await report({ ...period, userId: 'bob' }, bob)).all.total.requests).to.equal(
        REQUESTS.filter(({ userId }) => userId === 'bob').length,
      );
      expect(await failure(report({ ...period, userId: 'ann' }, bob))).to.be.instanceOf(LLMPermissionError);
      expect(await failure(report(period, { userId: '', source: 'http' }))).to.be.instanceOf(LLMAuthError);
    });

    it('rejects invalid arguments with their path', async () => {
      for (const [path, argument] of [
        ['from', { ...period, from: undefined }],
        ['from', { ...period, from: '2026' }],
        ['to', { ...period, to: START }],
        ['interval', { ...period, interval: 'minute' }],
        ['interval', { ...period, to: START + 1_001 * HOUR }],
        ['utcOffset', { ...period, utcOffset: 5_000 }],
        ['groupBy', { ...period, groupBy: '$where' }],
        ['userId', { ...period, userId: { $gt: '' } }],
        ['tool', { ...period, tool: 'search' }],
        ['model', { ...period, groupBy: 'tool', model: 'm0' }],
        ['limit', { ...period, limit: 5 }],
      ] as const)
        expect(await failure(report(argument)), path)
          .to.be.instanceOf(LLMInvalidRequestError)
          .and.to.have.property('path', path);
    });
  });
}
