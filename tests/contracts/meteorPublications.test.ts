/**
 * The Meteor publications on the strict stubs: which documents and fields each user receives, and live updates.
 */
import { expect } from 'chai';
import type { DdpClient } from '../stubs/server/DdpClient';
import { registry } from '../stubs/server/registry';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp, Person } from '../support/meteorApp';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

/** The published fields, as documented. */
const RUN = [
  'budget',
  'unpriced',
  'models',
  'tools',
  'duration',
  'tags',
  'metadata',
  'rating',
  'comment',
  'ratedBy',
  'ratedAt',
  '_id',
  'userId',
  'providerId',
  'model',
  'state',
  'createdAt',
  'startedAt',
  'endedAt',
  'iterations',
  'usage',
  'cost',
  'error',
  'title',
];
const USAGE = ['input_tokens', 'output_tokens', 'total_tokens', 'cached_tokens', 'reasoning_tokens'];
const CALL = [
  '_id',
  'executionId',
  'callId',
  'name',
  'blocking',
  'state',
  'createdAt',
  'approvalRequestedAt',
  'startTime',
  'endTime',
  'executionTime',
  'progress',
  'note',
  'error',
  'arguments',
  'result',
];
const DELTA = ['_id', 'executionId', 'seq', 'kind', 'text'];
const COUNT = ['_id', 'userId', 'day', 'providerId', 'state', 'count'];
const MEMORY = ['_id', 'userId', 'text', 'createdAt', 'savedAt'];
const PROVIDER = [
  '_id',
  'name',
  'vendor',
  'auth',
  'defaultModel',
  'allowedModels',
  'connected',
  'needsReconnect',
  'enabled',
];

describe(
  'the Meteor publications',
  inFlowingTime(() => {
    let app: MeteorApp;
    const runs: Record<'ann' | 'bob', string> = { ann: '', bob: '' };

    before(async () => {
      app = await startMeteorApp();
      for (const person of ['ann', 'bob'] as const) {
        app.simulator.enqueue(
          { calls: [{ name: 'clock', arguments: { text: person } }] },
          { text: `Hello ${person}, it is noon.` },
        );
        const { executionId } = (await app.call(person, 'ai.runs.start', {
          requestId: person,
          providerId: 'shared',
          input: `I am ${person}`,
          tools: ['clock'],
        })) as { executionId: string };
        runs[person] = executionId;
        await app.events.seen('run:completed', (event) => event.executionId === executionId);
      }
      for (const person of ['ann', 'bob'] as const)
        await app.call(person, 'ai.memory.save', { text: `I am ${person}`, key: 'name' });
      await until(
        async () =>
          (await published('ann', 'ai.stats')).documents('ai_stats').filter(({ state }) => state === 'completed')
            .length === 2,
      );
      // Every document contains fields that must not be published.
      for (const name of ['ai_runs', 'ai_tool_calls', 'ai_deltas', 'ai_stats', 'ai_providers', 'ai_memories'])
        await app.host.database.published(name).updateAsync({}, { $set: { canary: 'CANARY' } }, { multi: true });
    });
    after(() => app.stop());

    async function published(person: Person, name: string, argument?: unknown): Promise<DdpClient> {
      const client = app.client(person);
      await client.subscribe(name, ...(argument === undefined ? [] : [argument])).ready;
      return client;
    }
    const ids = (client: DdpClient, collection: string): readonly string[] =>
      client
        .documents(collection)
        .map(({ _id }) => _id)
        .sort();
    const owners = (client: DdpClient): readonly unknown[] =>
      [...new Set(client.documents('ai_runs').map(({ userId }) => userId))].sort();

    it('publish their own runs to users, all runs to admins, and none to anyone else', async () => {
      expect(owners(await published('bob', 'ai.runs'))).to.deep.equal(['bob']);
      expect(owners(await published('ann', 'ai.runs'))).to.deep.equal(['ann', 'bob']);
      expect(owners(await published('cat', 'ai.runs'))).to.deep.equal([]);
      expect(owners(await published('nobody', 'ai.runs'))).to.deep.equal([]);
    });

    it('publish a run with its calls and live text only to its owner and to admins', async () => {
      for (const person of ['bob', 'ann'] as const) {
        const client = await published(person, 'ai.run', { executionId: runs.bob });
        expect(ids(client, 'ai_runs')).to.deep.equal([runs.bob]);
        expect(client.documents('ai_tool_calls')).to.have.length(1);
        const deltas = client.documents('ai_deltas').sort((left, right) => Number(left.seq) - Number(right.seq));
        expect(deltas.map(({ text }) => text).join('')).to.equal('Hello bob, it is noon.');
      }
      for (const [person, executionId] of [
        ['cat', runs.bob],
        ['nobody', runs.bob],
        ['bob', runs.ann],
        ['bob', 'unknown'],
      ] as const) {
        const client = await published(person, 'ai.run', { executionId });
        for (const collection of ['ai_runs', 'ai_tool_calls', 'ai_deltas'])
          expect(client.documents(collection), `${person} ${collection}`).to.deep.equal([]);
      }
    });

    it('publish their own calls, statistics and providers to users, and all to admins', async () => {
      const seen = async (person: Person, name: string, collection: string): Promise<number> =>
        (await published(person, name)).documents(collection).length;
      for (const [person, calls, counts, providers] of [
        ['bob', 1, 1, 1],
        ['ann', 2, 2, 1],
        ['cat', 0, 0, 1],
        ['nobody', 0, 0, 0],
      ] as const) {
        expect(await seen(person, 'ai.toolCalls', 'ai_tool_calls'), `calls of ${person}`).to.equal(calls);
        expect(await seen(person, 'ai.stats', 'ai_stats'), `counts of ${person}`).to.equal(counts);
        expect(await seen(person, 'ai.providers', 'ai_providers'), `providers of ${person}`).to.equal(providers);
      }
      const others = await published('bob', 'ai.toolCalls', { executionId: runs.ann });
      expect(others.documents('ai_tool_calls')).to.deep.equal([]);
    });

    const FIELDS: readonly (readonly [
      name: string,
      argument: (() => object) | undefined,
      fields: Readonly<Record<string, readonly string[]>>,
    ])[] = [
      ['ai.runs', undefined, { ai_runs: RUN }],
      [
        'ai.run',
        () => ({ executionId: runs.bob }),
        { ai_runs: [...RUN, 'input', 'output', 'outputState'], ai_tool_calls: CALL, ai_deltas: DELTA },
      ],
      ['ai.toolCalls', undefined, { ai_tool_calls: CALL }],
      ['ai.stats', undefined, { ai_stats: COUNT }],
      ['ai.providers', undefined, { ai_providers: PROVIDER }],
      ['ai.memory', undefined, { ai_memories: MEMORY }],
    ];
    for (const [name, argument, fields] of FIELDS) {
      it(`${name} publishes its fields and no others`, async () => {
        const client = await published('ann', name, argument?.());
        for (const [collection, allowed] of Object.entries(fields)) {
          const documents = client.documents(collection);
          expect(documents.length, collection).to.be.greaterThan(0);
          for (const document of documents) {
            expect(allowed).to.include.members(Object.keys(document));
            if ('usage' in document) expect(USAGE).to.include.members(Object.keys(document.usage as object));
          }
          // Positive control: the stored documents contain the unpublished fields.
          const [stored] = await app.host.database.published(collection).find({}, { limit: 1 }).fetchAsync();
          expect(stored).to.have.property('canary', 'CANARY');
        }
        expect(JSON.stringify(client.messages)).not.to.contain('CANARY');
      });
    }

    it('send JSON strings instead of objects with arbitrary keys', async () => {
      const client = await published('bob', 'ai.run', { executionId: runs.bob });
      const [run] = client.documents('ai_runs');
      for (const field of ['input', 'output']) expect(JSON.parse(String(run![field]))).to.be.an('array');
      const [call] = client.documents('ai_tool_calls');
      expect(call).to.include({ arguments: '{"text":"bob"}', result: 'noon', state: 'completed' });
    });

    const WRONG: readonly (readonly [name: string, argument: unknown])[] = [
      ...['ai.runs', 'ai.run', 'ai.toolCalls', 'ai.stats', 'ai.memory'].flatMap((name) =>
        [1, 'no id', ['x'], { unknown: 1 }, { $where: 'true' }, { userId: 'ann' }].map(
          (argument) => [name, argument] as const,
        ),
      ),
      ['ai.runs', { state: { $gt: '' } }],
      ['ai.runs', { state: 'no-state' }],
      ['ai.runs', { since: { $gt: 0 } }],
      ['ai.runs', { since: -1 }],
      ['ai.run', undefined],
      ['ai.run', {}],
      ['ai.run', { executionId: { $gt: '' } }],
      ['ai.run', { executionId: 'x'.repeat(129) }],
      ['ai.toolCalls', { executionId: { $ne: null } }],
      ['ai.toolCalls', { state: { $in: ['completed'] } }],
      ['ai.providers', { unknown: 1 }],
    ];
    for (const [name, argument] of WRONG) {
      it(`${name} rejects ${argument === undefined ? 'no argument' : JSON.stringify(argument).slice(0, 60)}`, async () => {
        const client = app.client('ann');
        const error = await client.subscribe(name, ...(argument === undefined ? [] : [argument])).ready.then(
          () => undefined,
          (thrown: unknown) => thrown as { readonly error: unknown },
        );
        expect([400, 500, 'invalid-request']).to.include(error?.error);
        for (const collection of ['ai_runs', 'ai_tool_calls', 'ai_deltas', 'ai_stats', 'ai_providers', 'ai_memories'])
          expect(client.documents(collection)).to.deep.equal([]);
      });
    }

    it('publish what is remembered to its user alone, and what changes in it', async () => {
      const texts = (client: DdpClient) => client.documents('ai_memories').map(({ text }) => text);
      for (const [person, seen] of [
        ['bob', ['I am bob']],
        ['ann', ['I am ann']],
        ['cat', []],
        ['nobody', []],
      ] as const)
        expect(texts(await published(person, 'ai.memory')), person).to.deep.equal(seen);
      const bob = await published('bob', 'ai.memory');
      await app.call('bob', 'ai.memory.save', { text: 'I am Robert', key: 'name' });
      await until(() => texts(bob)[0] === 'I am Robert');
      await app.call('bob', 'ai.memory.forget', { all: true });
      await until(() => texts(bob).length === 0);
    });

    it('filter by state and time', async () => {
      expect(ids(await published('ann', 'ai.runs', { state: 'failed' }), 'ai_runs')).to.deep.equal([]);
      expect(ids(await published('ann', 'ai.runs', { state: 'completed', since: 0 }), 'ai_runs')).to.have.length(2);
      expect(ids(await published('ann', 'ai.runs', { since: Date.now() + 60_000 }), 'ai_runs')).to.deep.equal([]);
      expect(
        (await published('ann', 'ai.toolCalls', { state: 'completed' })).documents('ai_tool_calls'),
      ).to.have.length(2);
    });

    it('accept a bare run id, a date, and an empty object', async () => {
      expect(ids(await published('bob', 'ai.run', runs.bob), 'ai_runs')).to.deep.equal([runs.bob]);
      expect(ids(await published('cat', 'ai.run', runs.bob), 'ai_runs')).to.deep.equal([]);
      expect(ids(await published('bob', 'ai.runs', { since: new Date(0) }), 'ai_runs')).to.deep.equal([runs.bob]);
      expect(ids(await published('bob', 'ai.runs', { since: new Date(Date.now() + 60_000) }), 'ai_runs')).to.deep.equal(
        [],
      );
      for (const nothing of [{}, null])
        expect(ids(await published('bob', 'ai.providers', nothing), 'ai_providers')).to.deep.equal(['shared']);
    });

    it('publish a run in progress: its state, its calls, and its text in documents that never grow', async () => {
      const client = await published('bob', 'ai.runs');
      const text = Array.from({ length: 60 }, (_, word) => `word${word}`).join(' ');
      app.simulator.enqueue(
        { calls: [{ name: 'danger', arguments: { text: 'live' } }] },
        { text, fault: { kind: 'slow', chunkBytes: 400, delayMs: 5 } },
      );
      const { executionId } = (await app.call('bob', 'ai.runs.start', {
        requestId: 'live',
        providerId: 'shared',
        input: 'Go',
        tools: ['danger'],
      })) as { executionId: string };
      await client.subscribe('ai.run', { executionId }).ready;
      const approvalRequired = await app.events.seen(
        'tool:approval_required',
        (event) => event.executionId === executionId,
      );
      await until(() => client.documents('ai_tool_calls').some(({ state }) => state === 'awaiting_approval'));
      await app.call('bob', 'ai.runs.approve', {
        executionId,
        callId: approvalRequired.callId,
        argumentsHash: approvalRequired.argumentsHash,
      });
      await until(() =>
        client.documents('ai_runs').some(({ _id, state }) => _id === executionId && state === 'completed'),
      );
      const states = client.messages
        .filter(({ collection, fields }) => collection === 'ai_tool_calls' && fields !== undefined)
        .map(({ fields }) => (fields as { state?: string }).state);
      expect(states.filter((state) => state !== undefined)).to.include.members(['awaiting_approval', 'completed']);
      const deltas = client
        .documents('ai_deltas')
        .filter((delta) => delta.executionId === executionId)
        .sort((left, right) => Number(left.seq) - Number(right.seq));
      expect(deltas.map((delta) => delta.text).join('')).to.equal(text);
      expect(
        client.messages.filter(({ msg, collection }) => collection === 'ai_deltas' && msg === 'changed'),
      ).to.deep.equal([]);
    });

    it('publish changes of providers', async () => {
      const client = await published('bob', 'ai.providers');
      await app.call('ann', 'ai.providers.update', { providerId: 'shared', name: 'Renamed' });
      await until(() => client.documents('ai_providers')[0]?.name === 'Renamed');
      await app.call('ann', 'ai.providers.update', { providerId: 'shared', access: 'admins' });
      await until(() => client.documents('ai_providers').length === 0);
    });

    it('leave no observer behind when clients disconnect', async () => {
      const watching = (): number =>
        ['ai_runs', 'ai_tool_calls', 'ai_deltas'].reduce(
          (sum, name) => sum + registry.collections.get(name)!.watching,
          0,
        );
      const before = watching();
      const client = await published('ann', 'ai.run', { executionId: runs.bob });
      expect(watching()).to.equal(before + 3);
      client.close();
      await until(() => watching() === before);
    });

    it('report every failure to the client, not only to the log', () => {
      const unexpected = registry.log.filter(
        ({ error }) =>
          !(error instanceof Error && 'errorType' in error && error.errorType === 'Match.Error') &&
          !/check\(\) all arguments/.test(String(error)),
      );
      expect(unexpected).to.deep.equal([]);
    });
  }),
);

describe(
  'the Meteor publications of sealed content',
  inFlowingTime(() => {
    let app: MeteorApp;
    before(async () => {
      app = await startMeteorApp({ sealContent: true });
    });
    after(() => app.stop());

    it('send it as it was written, also what changes while somebody watches, and store it sealed', async () => {
      const ann = app.client('ann');
      await ann.subscribe('ai.runs').ready;
      app.simulator.enqueue(
        { calls: [{ name: 'danger', arguments: { text: 'a secret argument' } }] },
        { text: 'A secret answer.' },
      );
      const { executionId } = (await app.call('bob', 'ai.runs.start', {
        requestId: 'sealed',
        providerId: 'shared',
        input: 'A secret question',
        tools: ['danger'],
      })) as { executionId: string };
      await app.events.seen('tool:approval_required');
      const bob = app.client('bob');
      await bob.subscribe('ai.run', { executionId }).ready;
      await until(() => bob.documents('ai_tool_calls')[0]?.state === 'awaiting_approval');
      const [waiting] = bob.documents('ai_tool_calls');
      expect(waiting?.arguments).to.include('a secret argument');
      await app.call('bob', 'ai.runs.approve', {
        executionId,
        callId: waiting?.callId,
        argumentsHash: waiting?.argumentsHash,
      });
      await app.events.seen('run:completed');
      await until(() => String(bob.documents('ai_runs')[0]?.output).includes('A secret answer.'));
      await until(() => bob.documents('ai_tool_calls')[0]?.result === 'done');
      await until(() =>
        bob
          .documents('ai_deltas')
          .map(({ text }) => text)
          .join('')
          .includes('A secret answer.'),
      );
      await bob.subscribe('ai.memory').ready;
      const { id } = (await app.call('bob', 'ai.memory.save', { text: 'A secret wish', key: 'wish' })) as {
        id: string;
      };
      await until(() => bob.documents('ai_memories')[0]?.text === 'A secret wish');
      await app.call('bob', 'ai.memory.save', { text: 'Another secret wish', key: 'wish' });
      await until(() => bob.documents('ai_memories')[0]?.text === 'Another secret wish');
      expect(bob.documents('ai_memories')).to.have.length(1).and.have.nested.property('[0]._id', id);
      await until(() => ann.documents('ai_runs')[0]?.state === 'completed');
      expect(ann.documents('ai_runs')[0]).to.include({ title: 'A secret question' });
      for (const name of ['ai_runs', 'ai_tool_calls', 'ai_deltas', 'ai_memories']) {
        const stored = await app.host.database.published(name).find({}).fetchAsync();
        expect(stored, name).to.not.be.empty;
        expect(JSON.stringify(stored), name).to.not.include('secret');
      }
    });

    it('end when content was altered', async () => {
      const runs = app.host.database.published('ai_runs');
      const run = (await runs.findOneAsync({})) as { readonly _id: string; readonly input: unknown };
      const subscription = app.client('bob').subscribe('ai.run', { executionId: run._id });
      await subscription.ready;
      await runs.updateAsync({ _id: run._id }, { $set: { title: run.input } });
      expect(await subscription.ended).to.be.an('error');
    });
  }),
);
