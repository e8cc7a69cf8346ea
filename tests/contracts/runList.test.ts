/** Lists, sums, ratings and tags of runs in every store: what they find, in which order, and for whom. */
import { expect } from 'chai';
import { RunList } from '../../imports/business/ai/application/operations/RunList';
import { RUN_LIST_OPERATIONS } from '../../imports/business/ai/application/operations/runListOperations';
import { RunQueries } from '../../imports/business/ai/application/operations/RunQueries';
import { addUsage, NO_USAGE } from '../../imports/business/ai/domain/entities/Response';
import type { ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import type { RunPage } from '../../imports/business/ai/domain/interfaces/RunViewReader';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { RunProgress, RunRequest } from '../../imports/business/ai/domain/types/RunRecords';
import type { RunSummary } from '../../imports/business/ai/domain/types/RunViews';
import { DocumentRunList } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunList';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { DocumentRunViews } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { RunRetention } from '../../imports/business/ai/infrastructure/persistence/runs/RunRetention';
import { RUNS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { usage } from '../../imports/testing/responses';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { runRequest, toolCall } from '../support/runRequests';
import { bindOperations } from '../../imports/host/bindOperations';
import type { OperationsOf } from '../../imports/host/bindOperations';

const ANN: Actor = { userId: 'ann', source: 'method' };
const BOB: Actor = { userId: 'bob', source: 'method' };
const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'method' };

type Fields = Partial<RunRequest> & { readonly progress?: Partial<RunProgress>; readonly calls?: readonly ToolCall[] };

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(`the list of runs (${name})`, () => {
    let opened: TestDatabase;
    let store: RunStore;
    let operations: OperationsOf<typeof RUN_LIST_OPERATIONS>;
    const changed: string[] = [];
    beforeEach(async () => {
      opened = await open();
      store = await openRunStore(opened.database);
      const views = new DocumentRunViews(opened.database);
      const list = new DocumentRunList(opened.database);
      await list.ready();
      changed.splice(0);
      operations = bindOperations(RUN_LIST_OPERATIONS, {
        runList: new RunList({
          list,
          queries: new RunQueries({
            views,
            texts: { deltas: () => Promise.resolve([]) },
            stats: { counts: () => Promise.resolve([]) },
            tools: { tools: [] },
          }),
          ownerOf: (executionId) => views.ownerOf(executionId),
          removeEnded: (executionId) => new RunRetention(opened.database).removeEnded(executionId),
          onChange: (ownerId) => changed.push(ownerId),
          searchUsers: (start) => Promise.resolve('bea@x.org'.startsWith(start) ? ['bob'] : []),
          now: () => 77,
        }),
      });
    });
    afterEach(() => opened.close());

    const addRun = async (id: string, { progress, calls = [], ...request }: Fields = {}): Promise<void> => {
      const lease = await store.create(runRequest(id, request), 'running', 'owner');
      for (const call of calls) await store.saveCalls(lease, [call]);
      if (progress !== undefined) await store.saveRun(lease, progress);
    };
    const list = (argument: object = {}, actor = ADMIN): Promise<RunPage> =>
      operations['ai.runs.list'](actor, argument);
    const ids = async (argument: object = {}, actor = ADMIN): Promise<readonly string[]> =>
      (await list(argument, actor)).runs.map(({ _id }) => _id);
    const summary = (argument: object = {}, actor = ADMIN): Promise<RunSummary> =>
      operations['ai.runs.summary'](actor, argument);

    it('pages through all runs in order, with the total on each page', async () => {
      for (let index = 0; index < 7; index += 1) await addRun(`r${index}`, { createdAt: 1_000 + (index >> 1) });
      const seen: string[] = [];
      for (let after: string | undefined, pages = 0; pages === 0 || after !== undefined; pages += 1) {
        const page = await list({ limit: 3, ...(after === undefined ? {} : { after }) });
        expect(page.total).to.equal(7);
        seen.push(...page.runs.map(({ _id }) => _id));
        after = page.next;
      }
      expect(seen).to.deep.equal(['r6', 'r5', 'r4', 'r3', 'r2', 'r1', 'r0']);
      expect(await ids({ order: 'asc', limit: 2 })).to.deep.equal(['r0', 'r1']);
    });

    it('sorts by cost, duration and tokens', async () => {
      const ended = (cost: number, duration: number, tokens: number): Fields => ({
        progress: { state: 'completed', startedAt: 1_000, endedAt: 1_000 + duration, cost, usage: usage(tokens, 0) },
      });
      await addRun('a', ended(3, 10, 200));
      await addRun('b', ended(1, 30, 100));
      await addRun('c', ended(2, 20, 300));
      await addRun('open');
      expect(await ids({ sort: 'cost' })).to.deep.equal(['a', 'c', 'b', 'open']);
      expect(await ids({ sort: 'duration' })).to.deep.equal(['b', 'c', 'a', 'open']);
      expect(await ids({ sort: 'tokens', order: 'asc' })).to.deep.equal(['open', 'b', 'a', 'c']);
    });

    it('finds runs by each filter, and by several together', async () => {
      await addRun('old', { createdAt: 100, providerId: 'groq', model: 'llama', userId: 'bob' });
      await addRun('fast', {
        createdAt: 200,
        model: 'gpt-5',
        tags: ['blue', 'urgent'],
        conversationId: 'talk',
        parentExecutionId: 'slow',
        parentCallId: 'c',
        progress: {
          state: 'completed',
          startedAt: 200,
          endedAt: 250,
          cost: 0.5,
          models: ['gpt-5-2025-08-07'],
          tools: ['get_weather'],
        },
      });
      await addRun('slow', {
        createdAt: 300,
        progress: { state: 'failed', startedAt: 300, endedAt: 9_300, cost: 4, models: ['gpt-6-sol'] },
      });
      await addRun('open', { createdAt: 400, calls: [toolCall('c', { state: 'awaiting_approval' })] });
      const FOUND: readonly (readonly [filter: object, ids: readonly string[]])[] = [
        [{ executionId: 'slow' }, ['slow']],
        [{ executionId: 'slow', waiting: true }, []],
        [{ state: 'failed' }, ['slow']],
        [{ state: ['failed', 'completed'] }, ['slow', 'fast']],
        [{ waiting: true }, ['open']],
        [{ providerId: 'groq' }, ['old']],
        [{ model: 'llama' }, ['old']],
        [{ model: 'gpt-5-2025-08-07' }, ['fast']],
        [{ userId: 'bob' }, ['old']],
        [{ tool: 'get_weather' }, ['fast']],
        [{ tag: 'urgent' }, ['fast']],
        [{ conversationId: 'talk', userId: 'ann' }, ['fast']],
        [{ parentExecutionId: 'slow', parentCallId: 'c' }, ['fast']],
        [{ parentExecutionId: 'slow', parentCallId: 'd' }, []],
        [{ parentExecutionId: 'slow', parentCallId: 'd'.repeat(256) }, []],
        [{ from: 200, to: 300 }, ['slow', 'fast']],
        [{ since: 400 }, ['open']],
        [{ minCost: 0.5 }, ['slow', 'fast']],
        [{ maxCost: 0.5 }, ['fast']],
        [{ minDuration: 51 }, ['slow']],
        [{ maxDuration: 50, minDuration: 50 }, ['fast']],
        [{ userId: 'ann', state: ['failed', 'completed'], maxCost: 1 }, ['fast']],
        [{ userId: 'nobody' }, []],
      ];
      for (const [filter, expected] of FOUND) {
        const title = JSON.stringify(filter);
        expect(await ids(filter), title).to.deep.equal(expected);
        expect((await list({ ...filter, limit: 1 })).total, title).to.equal(expected.length);
        expect((await summary(filter)).total, title).to.equal(expected.length);
      }
    });

    it('finds runs by the beginnings of words of their title, ids, user, models and tools', async () => {
      await addRun('run-17', {
        title: 'Übersetze den ﬁnalen E-Mail-Text <b>heute</b>',
        userId: 'ada.lovelace',
        model: 'gpt-5.4-mini',
        progress: { tools: ['getWeather'], models: ['gpt-5.4-mini-2026-03-17'] },
      });
      await addRun('other', { title: 'Something else', userId: 'bob' });
      for (const search of [
        'übers',
        'ÜBERSETZE TEXT',
        'final',
        'e-mail',
        'mail heu',
        'run-17',
        '17',
        'ada',
        'love',
        'gpt-5.4',
        'mini',
        'getw',
        '  text   ada ',
      ])
        expect(await ids({ search }), search).to.deep.equal(['run-17']);
      for (const search of ['ersetze', 'text bob', 'weather', 'run-4', 'mail-17', '2026-03', '$where'])
        expect(await ids({ search }), search).to.deep.equal([]);
      expect(await ids({ search: '' })).to.have.length(2);
    });

    it('is searched by the names of users, for administrators', async () => {
      await addRun('of-ann', { userId: 'ann', title: 'bea@x.org' });
      await addRun('of-bob', { userId: 'bob' });
      expect(await ids({ search: 'bea@' })).to.have.members(['of-ann', 'of-bob']);
      expect((await summary({ search: 'bea@' })).total).to.equal(2);
      expect(await ids({ search: 'bea@', userId: 'ann' })).to.deep.equal(['of-ann']);
      expect(await ids({ search: 'bea@' }, BOB), 'users see no names').to.deep.equal([]);
    });

    it('states what a run waits for: of several things, the one that a person decides first', async () => {
      await addRun('a', {
        calls: [
          toolCall('c1', { state: 'executing', startTime: 1, expiresAt: 9 }),
          toolCall('c2', { state: 'awaiting_approval' }),
        ],
      });
      await addRun('b', { calls: [toolCall('c1', { state: 'executing', startTime: 1, expiresAt: 9 })] });
      await addRun('c', { calls: [toolCall('c1', { state: 'needs_review', startTime: 1 })] });
      await addRun('d', { calls: [toolCall('c1', { state: 'executing', startTime: 1 })] });
      const waits = (await list()).runs.map(({ _id, waitingFor }) => [_id, waitingFor]);
      expect(Object.fromEntries(waits)).to.deep.equal({ a: 'approval', b: 'external', c: 'review', d: undefined });
      expect((await ids({ waiting: true })).toSorted()).to.deep.equal(['a', 'b', 'c']);
    });

    it('sums up all runs that match, not only those of a page', async () => {
      let cost = 0;
      let sum = NO_USAGE;
      for (let index = 0; index < 60; index += 1) {
        const used = { ...usage(index, 2 * index), output_tokens_details: { reasoning_tokens: index % 5 } };
        sum = addUsage(sum, used);
        cost += index / 8;
        await addRun(`r${index}`, { progress: { state: 'completed', usage: used, cost: index / 8 } });
      }
      await addRun('unknown', {
        progress: {
          state: 'failed',
          usage: usage(1, 1),
          unpriced: { calls: 1, models: ['house'], reasons: ['no price for model "house"'] },
        },
      });
      sum = addUsage(sum, usage(1, 1));
      // An older version stored a run like this.
      await addRun('older', { progress: { state: 'failed', usage: usage(1, 1) } });
      sum = addUsage(sum, usage(1, 1));
      const found = await summary();
      expect(found).to.deep.equal({
        total: 62,
        states: { completed: 60, failed: 2 },
        usage: {
          input_tokens: sum.input_tokens,
          output_tokens: sum.output_tokens,
          total_tokens: sum.total_tokens,
          cached_tokens: 0,
          reasoning_tokens: sum.output_tokens_details.reasoning_tokens,
        },
        cost,
        unpriced: { runs: 2, models: ['house'], reasons: ['no price for model "house"'] },
      });
    });

    it('shows users their own runs, and admins everyone’s', async () => {
      await addRun('hers', { userId: 'ann' });
      await addRun('his', { userId: 'bob' });
      expect(await ids({}, ANN)).to.deep.equal(['hers']);
      expect(await ids({ userId: 'ann' }, ANN)).to.deep.equal(['hers']);
      expect((await summary({}, BOB)).total).to.equal(1);
      expect(await ids({ executionId: 'his' }, ANN)).to.deep.equal([]);
      expect((await ids()).toSorted()).to.deep.equal(['hers', 'his']);
      const thrown = await failure(list({ userId: 'bob' }, ANN));
      expect(thrown).to.include({ code: 'permission-denied', path: 'userId' });
      expect(await failure(list({}, { userId: '', source: 'method' }))).to.have.property('code', 'auth-failed');
    });

    it('refuses arguments of other types, with their path', async () => {
      const WRONG: readonly (readonly [object, string])[] = [
        [{ limit: 201 }, 'limit'],
        [{ limit: '5' }, 'limit'],
        [{ after: 'x' }, 'after'],
        [{ state: 'done' }, 'state[0]'],
        [{ waiting: false }, 'waiting'],
        [{ rating: 'good' }, 'rating'],
        [{ minCost: -1 }, 'minCost'],
        [{ search: { $ne: '' } }, 'search'],
        [{ userId: { $ne: 'ann' } }, 'userId'],
        [{ sort: 'words' }, 'sort'],
        [{ $where: '1' }, '$where'],
      ];
      for (const [argument, path] of WRONG)
        expect(await failure(list(argument)), path).to.include({ code: 'invalid-request', path });
    });

    it('stores ratings and tags with who rated and when, until they are taken back', async () => {
      await addRun('r1', { userId: 'ann' });
      await addRun('r2', { userId: 'ann' });
      await operations['ai.runs.rate'](ANN, { executionId: 'r1', rating: 'down', comment: 'Wrong city.' });
      await operations['ai.runs.tag'](ADMIN, { executionId: 'r1', tags: ['weather', ' checked ', 'weather'] });
      expect(changed).to.deep.equal(['ann', 'ann']);
      const [run] = (await list({ rating: 'down' }, ANN)).runs;
      expect(run).to.deep.include({
        _id: 'r1',
        rating: 'down',
        comment: 'Wrong city.',
        ratedBy: 'ann',
        ratedAt: 77,
        tags: ['weather', 'checked'],
      });
      expect(await ids({ tag: 'checked' })).to.deep.equal(['r1']);
      await operations['ai.runs.rate'](ADMIN, { executionId: 'r1', rating: 'up' });
      expect((await list({ rating: 'up' })).runs[0])
        .to.include({ ratedBy: 'root' })
        .and.not.have.property('comment');
      await operations['ai.runs.rate'](ANN, { executionId: 'r1', rating: null });
      await operations['ai.runs.tag'](ANN, { executionId: 'r1', tags: [] });
      expect(await ids({ rating: 'up' })).to.deep.equal([]);
      expect((await list()).runs.find(({ _id }) => _id === 'r1')).not.to.have.any.keys('rating', 'comment', 'tags');
    });

    it('lets nobody rate, tag or read the runs of others', async () => {
      await addRun('r1', { userId: 'ann' });
      for (const executionId of ['r1', 'unknown'])
        for (const [operation, argument] of [
          ['ai.runs.rate', { executionId, rating: 'up' }],
          ['ai.runs.tag', { executionId, tags: ['x'] }],
          ['ai.runs.get', { executionId }],
          ['ai.runs.remove', { executionId }],
        ] as const)
          expect(await failure(operations[operation](BOB, argument)), operation).to.include({
            message: 'There is no such run.',
            httpStatus: 404,
          });
      expect(changed).to.deep.equal([]);
    });

    it('removes a run that has ended, with all that belongs to it, and no other', async () => {
      await addRun('ended', { progress: { state: 'completed', startedAt: 1_000, endedAt: 2_000 } });
      await addRun('running');
      expect(await operations['ai.runs.remove'](ANN, { executionId: 'ended' })).to.deep.equal({ removed: true });
      expect(await store.load('ended')).to.equal(undefined);
      expect(await failure(operations['ai.runs.remove'](ANN, { executionId: 'running' }))).to.include({
        code: 'conflict',
      });
      expect((await store.load('running'))?.run.state).to.equal('running');
      expect(changed).to.deep.equal(['ann']);
    });

    it('retains ratings and tags when the run’s conversation is dropped', async () => {
      await addRun('r1', { progress: { state: 'completed', startedAt: 1_000, endedAt: 2_000 }, tags: ['a'] });
      await operations['ai.runs.rate'](ANN, { executionId: 'r1', rating: 'up' });
      const times = { compactAfter: 10, removeAfter: 1e9 };
      const swept = await new RunRetention(opened.database, { times, now: () => 3_000 }).sweep();
      expect(swept.compacted).to.equal(1);
      expect((await list({ rating: 'up', tag: 'a' })).runs).to.have.length(1);
    });

    it('returns a run with what it was asked to do, without vendors’ own fields', async () => {
      const { plan } = runRequest('x');
      const options = {
        ...plan.options,
        instructions: 'Be brief.',
        temperature: 0.5,
        reasoning: { effort: 'low' },
        vendor: { openai: { secret: 'key' } },
      };
      await addRun('r1', { plan: { ...plan, options }, metadata: { ticket: 17, vip: true } });
      const found = await operations['ai.runs.get'](ANN, { executionId: 'r1' });
      expect(found.run).to.not.have.property('budget');
      expect(found.run.metadata).to.deep.equal({ ticket: 17, vip: true });
      expect(found.plan).to.deep.equal({
        instructions: 'Be brief.',
        temperature: 0.5,
        reasoning: 'low',
        tools: ['clock'],
        otherTools: ['own'],
        limits: plan.limits,
      });
      expect(JSON.stringify(found)).not.to.include('secret');
    });

    it('shows the run’s own budget', async () => {
      const { plan } = runRequest('x');
      const budget = { calls: 5, money: 0.25, tokens: undefined } as never;
      await addRun('r1', { plan: { ...plan, limits: { ...plan.limits, budget } } });
      expect((await operations['ai.runs.get'](ANN, { executionId: 'r1' })).run.budget).to.deep.equal({
        calls: 5,
        money: 0.25,
      });
      expect((await list()).runs[0]?.budget).to.deep.equal({ calls: 5, money: 0.25 });
      expect((await store.load('r1'))?.run).to.not.have.property('budget');
    });

    it('lists the documents of the last version, which lack the newer fields', async () => {
      await addRun('r1', { createdAt: 500 });
      const newer = { words: true, usedWords: true, duration: true } as const;
      await opened.database.collection(RUNS).update({ _id: 'r1' }, { $unset: newer });
      expect(await ids({ state: 'running', userId: 'ann', from: 500 })).to.deep.equal(['r1']);
      expect(await ids({ sort: 'cost' })).to.deep.equal(['r1']);
    });
  });
}
