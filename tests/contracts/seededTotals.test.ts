/** The totals of a seeded store agree with plain loops over its documents, also after changes and removals. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Inbox } from '../../imports/business/ai/application/operations/Inbox';
import type { ErrorCode } from '../../imports/business/ai/domain/errors/LLMErrors';
import { ERROR_TABLE } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { RunListFilter } from '../../imports/business/ai/domain/interfaces/RunViewReader';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import { DocumentInbox } from '../../imports/business/ai/infrastructure/persistence/inbox/DocumentInbox';
import { DocumentRequestStore, REQUESTS } from '../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import type { RequestDocument } from '../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { DocumentRunList } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunList';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RUNS, TOOL_CALLS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import type {
  RunDocument,
  ToolCallDocument,
} from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { DocumentUsageReports } from '../../imports/business/usage/infrastructure/DocumentUsageReports';
import { seedDatabase } from '../../scripts/seed/seedDatabase';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { describeInSoak } from '../support/soak';

const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'http' };
const NOW = Date.UTC(2026, 10, 20, 12);
const DAY = 86_400_000;
const SIZE = { runs: 20_000, waiting: 400 };
/** Sums of floating-point numbers depend on their order. */
const ROUNDING = 1e-6;

type StoredRun = RunDocument & { readonly handledAt?: number };

const FILTERS: readonly RunListFilter[] = [
  {},
  { states: ['failed'] },
  { states: ['waiting', 'cancelled'] },
  { userId: 'ada' },
  { userId: 'ada', states: ['completed'] },
  { model: 'grok-4' },
  { model: 'no-such-model' },
  { providerId: 'anthropic' },
  { tool: 'get_weather' },
  { tag: 'urgent' },
  { minCost: 0.01, maxCost: 0.02 },
  { from: NOW - 3 * DAY, to: NOW - DAY },
  { search: 'refund' },
  { search: 'refund ada' },
  { search: 'zanzibar' },
];

describeInSoak('the totals of 20,000 seeded runs', () => {
  let directory: string;
  let database: DocumentDatabase;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-totals-'));
    await open();
    await seedDatabase(database, { ...SIZE, now: NOW, random: seededRandom(20261122) });
  });
  after(async () => {
    await database.close();
    await rm(directory, { recursive: true, force: true });
  });

  const open = async (): Promise<void> => {
    database = await openSqliteDatabase({ directory, expireEvery: 2 ** 30 });
    await openRunStore(database);
    await new DocumentRunList(database).ready();
    await new DocumentRequestStore(database).ready();
  };
  const storedRuns = () => database.collection<StoredRun>(RUNS).find({});

  const checkTotals = async (): Promise<void> => {
    await checkSummaries();
    await checkInbox();
    for (const groupBy of [undefined, 'model', 'user'] as const) await checkUsage(groupBy);
  };

  const checkSummaries = async (): Promise<void> => {
    const runs = await storedRuns();
    const list = new DocumentRunList(database);
    for (const filter of FILTERS) {
      const found = runs.filter((run) => isMatch(run, filter));
      const name = JSON.stringify(filter);
      const summary = await list.summary(filter);
      const states: Record<string, number> = {};
      const tokens = { input_tokens: 0, output_tokens: 0, total_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 };
      let cost = 0;
      let unpriced = 0;
      for (const run of found) {
        states[run.state] = (states[run.state] ?? 0) + 1;
        for (const each of Object.keys(tokens) as (keyof typeof tokens)[]) tokens[each] += run.usage[each];
        cost += run.cost ?? 0;
        // A run of an older version has no reason.
        if (run.unpriced !== undefined || (run.cost === undefined && run.usage.total_tokens > 0)) unpriced += 1;
      }
      expect(summary, name).to.deep.include({ total: found.length, states, usage: tokens });
      expect(summary.cost, name).to.be.closeTo(cost, ROUNDING);
      expect(summary.unpriced.runs, name).to.equal(unpriced);
      const page = await list.page(filter, { sort: 'createdAt', order: 'desc', limit: 20 });
      const newest = found
        .toSorted((left, right) => right.createdAt - left.createdAt || (left._id < right._id ? 1 : -1))
        .slice(0, 20);
      expect(page.total, name).to.equal(found.length);
      expect(
        page.runs.map(({ _id }) => _id),
        name,
      ).to.deep.equal(newest.map(({ _id }) => _id));
    }
  };

  const checkInbox = async (): Promise<void> => {
    const calls = await database.collection<ToolCallDocument>(TOOL_CALLS).find({});
    const counts = { approval: 0, review: 0, external: 0, failed: 0 };
    for (const { state, call } of calls) {
      if (state === 'awaiting_approval') counts.approval += 1;
      if (state === 'needs_review') counts.review += 1;
      // Only the call of an external tool has the time at which it expires.
      if (state === 'executing' && 'expiresAt' in (JSON.parse(call) as object)) counts.external += 1;
    }
    for (const { state, error, handledAt } of await storedRuns())
      if (state === 'failed' && handledAt === undefined && ERROR_TABLE[error?.code as ErrorCode].retryable)
        counts.failed += 1;
    const inbox = new Inbox({
      inbox: new DocumentInbox(database),
      ownerOf: () => Promise.resolve('ada'),
    });
    const listed = await inbox.list(ADMIN, { search: '', order: 'asc', limit: 1 });
    for (const [kind, count] of Object.entries(counts)) expect(count, kind).to.be.greaterThan(0);
    const total = counts.approval + counts.review + counts.external + counts.failed;
    // None of the seeded runs is parked, or waits for a tool.
    expect(listed.counts).to.deep.equal({ ...counts, parked: 0, tools: 0, total });
  };

  const checkUsage = async (groupBy: 'model' | 'user' | undefined): Promise<void> => {
    const entries = await database.collection<RequestDocument>(REQUESTS).find({});
    const from = NOW - 20 * DAY;
    const to = NOW - DAY / 3;
    const report = await new DocumentUsageReports(
      database.collection(REQUESTS),
      database.collection(TOOL_CALLS),
    ).report({
      from,
      to,
      interval: 'day',
      utcOffset: 330,
      ...(groupBy === undefined ? {} : { groupBy }),
    });
    const found = entries.filter(({ at }) => at >= from && at < to);
    expectFigures(report.all.total, found);
    for (const { name, total } of report.groups)
      expectFigures(
        total,
        found.filter((entry) => (groupBy === 'model' ? entry.model : entry.userId) === name),
      );
    for (const [at, start] of report.intervals.entries())
      expectFigures(
        report.all.values[at],
        found.filter((entry) => entry.at >= start && entry.at < start + DAY),
      );
    const inGroups = report.groups.reduce((sum, { total }) => sum + total.requests, 0);
    if (groupBy !== undefined) expect(inGroups + (report.others?.total.requests ?? 0)).to.equal(found.length);
  };

  it('agree with a count by hand', checkTotals);

  it('agree after runs were changed and removed', async () => {
    const runs = database.collection<StoredRun>(RUNS);
    const calls = database.collection<ToolCallDocument>(TOOL_CALLS);
    const requests = database.collection<RequestDocument>(REQUESTS);
    await runs.update({ state: 'failed', userId: 'grace' }, { $set: { handledAt: NOW } }, { multi: true });
    await runs.update({ userId: 'ada' }, { $addToSet: { tags: 'urgent' } }, { multi: true });
    await runs.update({ model: 'grok-4' }, { $set: { state: 'cancelled' }, $unset: { cost: true } }, { multi: true });
    await runs.update({ userId: 'ken' }, { $set: { words: ['zanzibar'] } }, { multi: true });
    await runs.update({ userId: 'ken' }, { $inc: { 'usage.total_tokens': 3 } }, { multi: true });
    await runs.remove({ createdAt: { $lt: NOW - 20 * DAY } });
    await calls.remove({ state: 'needs_review', userId: 'ada' });
    await requests.update({ userId: 'ada' }, { $set: { model: 'renamed' }, $inc: { cost: 0.5 } }, { multi: true });
    await requests.remove({ at: { $lt: NOW - 15 * DAY }, userId: { $ne: 'ada' } });
    await checkTotals();
  });

  it('agree after a restart', async () => {
    await database.close();
    await open();
    await checkTotals();
  });
});

function isMatch(run: StoredRun, filter: RunListFilter): boolean {
  const { userId, states, providerId, model, tool, tag, minCost, maxCost, from, to, search } = filter;
  const words = [...(run.words ?? []), ...(run.usedWords ?? [])];
  return (
    (userId === undefined || run.userId === userId) &&
    (states === undefined || states.includes(run.state)) &&
    (providerId === undefined || run.providerId === providerId) &&
    (model === undefined || run.model === model || run.models?.includes(model) === true) &&
    (tool === undefined || run.tools?.includes(tool) === true) &&
    (tag === undefined || run.tags?.includes(tag) === true) &&
    (minCost === undefined || (run.cost !== undefined && run.cost >= minCost)) &&
    (maxCost === undefined || (run.cost !== undefined && run.cost <= maxCost)) &&
    (from === undefined || run.createdAt >= from) &&
    (to === undefined || run.createdAt <= to) &&
    (search ?? '').split(' ').every((prefix) => words.some((word) => word.startsWith(prefix)))
  );
}

function expectFigures(
  figures: Awaited<ReturnType<DocumentUsageReports['report']>>['all']['total'] | undefined,
  found: readonly RequestDocument[],
): void {
  const tokens = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  let errors = 0;
  let cost = 0;
  let unpriced = 0;
  for (const entry of found) {
    tokens.input += entry.usage.input_tokens;
    tokens.cached += entry.usage.input_tokens_details.cached_tokens;
    tokens.cacheWrite += entry.usage.input_tokens_details.cache_write_tokens;
    tokens.output += entry.usage.output_tokens;
    tokens.reasoning += entry.usage.output_tokens_details.reasoning_tokens;
    if (entry.state === 'failed') errors += 1;
    if (entry.unpriced !== undefined) unpriced += 1;
    cost += entry.cost ?? 0;
  }
  expect(figures).to.deep.include({ requests: found.length, errors, tokens, unpriced });
  expect(figures?.cost).to.be.closeTo(cost, ROUNDING);
}
