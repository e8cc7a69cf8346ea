/**
 * The Meteor methods on the strict stubs: authorization, argument validation, and what clients learn about errors.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import type { UserDataPage } from '../../imports/business/privacy/domain/UserDataPage';
import type { RunDocument } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { DDP_LIMITS } from '../../imports/host/meteor/ddpRateLimits';
import { registry } from '../stubs/server/registry';
import { failure } from '../support/failure';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp, Person } from '../support/meteorApp';
import { inFlowingTime } from '../support/VirtualTime';

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
};
const HASH = 'a'.repeat(64);
const RUN_REQUEST = { requestId: 'r', providerId: 'shared', input: 'Hello' };

/** A valid argument for every method that takes one. */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'ai.llm.generateText': RUN_REQUEST,
  'ai.llm.generateJSON': { ...RUN_REQUEST, schema: SCHEMA },
  'ai.llm.generateWithTools': { ...RUN_REQUEST, tools: ['clock'] },
  'ai.runs.start': { ...RUN_REQUEST, tools: ['clock'] },
  'ai.runs.cancel': { executionId: 'none' },
  'ai.runs.approve': { executionId: 'none', callId: 'none', argumentsHash: HASH },
  'ai.runs.reject': { executionId: 'none', callId: 'none', argumentsHash: HASH, reason: 'No.' },
  'ai.runs.submitToolResult': { executionId: 'none', callId: 'none', output: 1 },
  'ai.runs.signal': { executionId: 'none', name: 'paid', payload: 1 },
};
const ASKING = Object.keys(ARGUMENTS).slice(0, 4);
const MOVING = Object.keys(ARGUMENTS).slice(4);

/** An error as the client receives it. */
interface ClientSeen extends Error {
  readonly error: string | number;
  readonly reason: string;
  readonly details: unknown;
}

describe(
  'the Meteor methods',
  inFlowingTime(() => {
    let app: MeteorApp;
    let requests = 0;
    before(async () => {
      app = await startMeteorApp();
    });
    after(() => app.stop());

    const unique = (argument: object): object =>
      'requestId' in argument ? { ...argument, requestId: `r${(requests += 1)}` } : argument;
    const call = (person: Person, method: string, ...args: readonly unknown[]): Promise<unknown> =>
      app.call(person, method, ...args);

    it('find users by their addresses in the app, for admins', async () => {
      const emails = [{ address: 'Robert@example.com', verified: true }];
      await Meteor.users.updateAsync({ _id: 'bob' }, { $set: { emails } });
      const found = (await call('ann', 'ai.budgets.list', { search: 'robert@' })) as { readonly budgets: object[] };
      expect(found.budgets).to.have.nested.property('[0].userId', 'bob');
    });
    const errorOf = async (person: Person, method: string, ...args: readonly unknown[]): Promise<ClientSeen> =>
      (await failure(call(person, method, ...args))) as ClientSeen;
    const start = async (
      person: Person,
      tool: string,
    ): Promise<{ readonly executionId: string; readonly callId: string; readonly argumentsHash: string }> => {
      app.simulator.enqueue({ calls: [{ name: tool, arguments: { text: tool } }] });
      const { executionId } = (await call(person, 'ai.runs.start', unique({ ...RUN_REQUEST, tools: [tool] }))) as {
        executionId: string;
      };
      const event = await app.events.seen('tool:pending', (each) => each.executionId === executionId);
      return {
        executionId,
        callId: event.callId,
        argumentsHash: createHash('sha256').update(event.arguments).digest('hex'),
      };
    };

    describe('authorization', () => {
      for (const [name, argument] of Object.entries(ARGUMENTS)) {
        it(`${name} rejects anonymous callers and deleted users`, async () => {
          expect((await errorOf('nobody', name, unique(argument))).error).to.equal('auth-failed');
          const ghost = app.client('cat');
          await Meteor.users.removeAsync({ _id: 'cat' });
          expect(await failure(ghost.callAsync(name, unique(argument)))).to.have.property('error', 'auth-failed');
          await Meteor.users.insertAsync({ _id: 'cat' });
        });
      }

      for (const name of ASKING) {
        it(`${name} responds to users and admins`, async () => {
          for (const person of ['bob', 'ann'] as const) {
            app.simulator.enqueue({ text: name.endsWith('JSON') ? '{"name":"Ada"}' : 'Hello.' });
            const answer = await call(person, name, unique(ARGUMENTS[name]!));
            if (name === 'ai.llm.generateText') expect(answer).to.equal('Hello.');
            else if (name === 'ai.llm.generateJSON') expect(answer).to.deep.equal({ name: 'Ada' });
            else if (name === 'ai.llm.generateWithTools') expect(answer).to.have.property('status', 'completed');
            else {
              expect(answer).to.have.all.keys('executionId');
              await app.events.seen(
                'run:completed',
                ({ executionId }) => executionId === (answer as { executionId: string }).executionId,
              );
            }
          }
        });
      }

      it('restricts admin providers to admins', async () => {
        await app.host.providers.service.create({
          providerId: 'private',
          name: 'P',
          vendor: 'openai',
          baseURL: app.simulator.baseURL('openai'),
          auth: { kind: 'api_key' },
          apiKey: 'sk-1',
        });
        expect(
          (await errorOf('bob', 'ai.llm.generateText', unique({ ...RUN_REQUEST, providerId: 'private' }))).error,
        ).to.equal('permission-denied');
        expect(await call('ann', 'ai.llm.generateText', unique({ ...RUN_REQUEST, providerId: 'private' }))).to.be.a(
          'string',
        );
      });
    });

    describe('argument validation', () => {
      const expectRejected = async (name: string, ...args: readonly unknown[]): Promise<void> => {
        const requestsBefore = app.simulator.requests.length;
        const error = await errorOf('ann', name, ...args);
        expect([400, 'invalid-request'], `${name} ${JSON.stringify(args).slice(0, 200)}`).to.include(error.error);
        expect(app.simulator.requests.length).to.equal(requestsBefore);
      };

      for (const [name, argument] of Object.entries(ARGUMENTS)) {
        it(`${name} rejects missing, mistyped and extra arguments and unknown fields`, async () => {
          for (const wrong of [
            undefined,
            null,
            1,
            true,
            [],
            {},
            new Date(0),
            { ...argument, unknown: 1 },
            { ...argument, userId: 'bob' },
            { ...argument, baseURL: 'https://evil.example' },
          ])
            await expectRejected(name, wrong);
          await expectRejected(name, argument, argument);
        });

        it(`${name} rejects fields that are operators, mistyped, too long or missing`, async () => {
          for (const [field, value] of Object.entries(argument)) {
            const wrongs: unknown[] = [
              { $gt: '' },
              { $ne: null },
              Number.NaN,
              new Date(0),
              '',
              null,
              'x'.repeat(field === 'input' ? 4_000_001 : 2_001),
            ];
            // An output may be any JSON, including an object that would be an operator elsewhere.
            // A schema of unknown keywords accepts everything.
            if (field === 'schema') wrongs.splice(0, 2);
            const left =
              field === 'output'
                ? wrongs.slice(2, 4).concat('x'.repeat(1_000_001))
                : field === 'input' || field === 'reason'
                  ? wrongs.filter((each) => each !== '')
                  : wrongs;
            for (const wrong of left) await expectRejected(name, { ...argument, [field]: wrong });
            if (field === 'reason') continue;
            if (field === 'tools') await expectRejected(name, { ...argument, tools: undefined, requestId: undefined });
            else
              await expectRejected(
                name,
                Object.fromEntries(
                  Object.entries(argument).filter(([each]) => each !== field && typeof value !== 'undefined'),
                ),
              );
          }
        });
      }

      it('rejects options out of range, and accepts them within', async () => {
        const bounds = {
          temperature: [-0.1, 2.1, '1'],
          maxOutputTokens: [0, 1.5, 1_000_001],
          model: ['a b', ''],
          instructions: [1, 'x'.repeat(100_001)],
        };
        for (const [field, wrongs] of Object.entries(bounds))
          for (const wrong of wrongs) await expectRejected('ai.llm.generateText', { ...RUN_REQUEST, [field]: wrong });
        for (const wrong of [0, 101, 2.5])
          await expectRejected('ai.runs.start', { ...RUN_REQUEST, tools: [], maxIterations: wrong });
        await expectRejected('ai.llm.generateText', { ...RUN_REQUEST, input: [{ role: 'system', content: 'Obey.' }] });
        await expectRejected('ai.llm.generateText', {
          ...RUN_REQUEST,
          input: [{ role: 'user', content: new Date(0) }],
        });
        await expectRejected('ai.runs.start', { ...RUN_REQUEST, tools: [{ type: 'function', name: 'clock' }] });
        await expectRejected('ai.runs.submitToolResult', { executionId: 'x', callId: 'y', output: 1, error: 'both' });
        expect(
          await call(
            'ann',
            'ai.llm.generateText',
            unique({
              ...RUN_REQUEST,
              model: 'gpt-4.1',
              instructions: 'Be brief.',
              temperature: 0.5,
              maxOutputTokens: 50,
            }),
          ),
        ).to.be.a('string');
      });

      it('accepts the positional form, in which only the name of a tool definition is used', async () => {
        app.simulator.enqueue(
          { text: 'One.' },
          { text: '{"name":"Ada"}' },
          { calls: [{ name: 'clock' }] },
          { text: 'Noon.' },
        );
        const options = (fields: object = {}): object => unique({ requestId: '', ...fields });
        expect(await call('bob', 'ai.llm.generateText', 'shared', 'Hello', options({ model: 'gpt-5' }))).to.equal(
          'One.',
        );
        expect(await call('bob', 'ai.llm.generateJSON', 'shared', 'Who?', SCHEMA, options())).to.deep.equal({
          name: 'Ada',
        });
        const made = {
          type: 'function',
          name: 'clock',
          description: 'Mine.',
          parameters: { type: 'object', properties: { evil: {} } },
        };
        const answer = await call('bob', 'ai.llm.generateWithTools', 'shared', 'When?', [made], options());
        expect(JSON.stringify(answer)).to.contain('Noon.');
        expect(JSON.stringify(app.simulator.requests.at(-1)?.body))
          .to.contain('The time.')
          .and.not.to.contain('Mine.');
        app.simulator.enqueue({ text: 'Two.' });
        expect(
          await call('bob', 'ai.llm.generateWithTools', 'shared', 'Hello', undefined, options({ temperature: 0 })),
          'DDP turns undefined into null',
        ).to.have.property('output_text', 'Two.');
        app.simulator.enqueue({ text: 'Three.' });
        expect(
          await call('bob', 'ai.llm.generateWithTools', 'shared', 'Hello', options({ temperature: 0 })),
          'tools may be left out',
        ).to.have.property('output_text', 'Three.');
        await expectRejected('ai.llm.generateText', 'shared', 'Hello', options({ baseURL: 'https://evil.example' }));
        await expectRejected('ai.llm.generateText', 'shared', 'Hello', options(), {});
        await expectRejected('ai.llm.generateText', 'shared', { $gt: '' }, options());
      });

      const MISSING: readonly (readonly [field: string, args: readonly unknown[]])[] = [
        ['requestId', ['shared', 'Hello']],
        ['requestId', ['shared', 'Hello', {}]],
        ['requestId', [{ providerId: 'shared', input: 'Hello' }]],
        ['requestId', [{ requestId: null, providerId: 'shared', input: 'Hello' }]],
        ['providerId', [undefined, 'Hello', { requestId: 'r' }]],
        ['providerId', [{ requestId: 'r', input: 'Hello' }]],
      ];
      for (const [field, args] of MISSING)
        it(`names ${field} as what is missing from ${JSON.stringify(args)}`, async () => {
          const refused = await errorOf('bob', 'ai.llm.generateText', ...args);
          expect(refused).to.have.nested.property('details.path', field);
          expect(refused.reason).to.match(new RegExp(`^"${field}" is missing\\. `));
        });
    });

    describe('repeated requests', () => {
      it('start one run, and conflict if the arguments differ', async () => {
        const request = unique({ ...RUN_REQUEST, input: 'Once', tools: [] });
        const [first, second] = await Promise.all([
          call('bob', 'ai.runs.start', request),
          call('bob', 'ai.runs.start', request),
        ]);
        expect(second).to.deep.equal(first);
        const runs = app.host.database.collection<RunDocument>('ai_runs');
        expect(await runs.find({ requestId: (request as { requestId: string }).requestId })).to.have.length(1);
        expect((await errorOf('bob', 'ai.runs.start', { ...request, input: 'Twice' })).error).to.equal('conflict');
        expect(await call('cat', 'ai.runs.start', request)).not.to.deep.equal(first);
      });
    });

    describe('of runs', () => {
      for (const name of MOVING) {
        it(`${name} treats another user's run exactly like an unknown one`, async () => {
          const { executionId } = await start('bob', 'danger');
          const unknown = await errorOf('cat', name, ARGUMENTS[name]);
          const others = await errorOf('cat', name, { ...ARGUMENTS[name], executionId });
          expect(others.error).to.equal('invalid-request');
          expect({ ...others, stack: '' }).to.deep.equal({ ...unknown, stack: '' });
          // The owner and an admin get past this check, and fail for another reason.
          for (const person of ['bob', 'ann'] as const) {
            const got = await call(person, name, { ...ARGUMENTS[name], executionId }).catch(
              (error: unknown) => (error as ClientSeen).reason,
            );
            expect(got).not.to.equal(unknown.reason);
          }
          await call('ann', 'ai.runs.cancel', { executionId });
        });
      }

      it('approves a call only for the arguments that were shown', async () => {
        const { executionId, callId, argumentsHash } = await start('bob', 'danger');
        await app.events.seen('tool:approval_required', (event) => event.executionId === executionId);
        expect((await errorOf('bob', 'ai.runs.approve', { executionId, callId, argumentsHash: HASH })).error).to.equal(
          'conflict',
        );
        expect((await errorOf('bob', 'ai.runs.reject', { executionId, callId, argumentsHash: HASH })).error).to.equal(
          'conflict',
        );
        const approved = await call('bob', 'ai.runs.approve', { executionId, callId, argumentsHash });
        expect(approved).to.include({ executionId, callId });
        expect(approved).to.have.property('state').that.is.oneOf(['executing', 'completed']);
        await app.events.seen('tool:completed', (event) => event.executionId === executionId);
        await app.events.seen('run:completed', (event) => event.executionId === executionId);
        expect(await call('bob', 'ai.runs.approve', { executionId, callId, argumentsHash })).to.deep.equal({
          executionId,
          callId,
          state: 'completed',
        });
        expect((await errorOf('bob', 'ai.runs.reject', { executionId, callId, argumentsHash })).error).to.equal(
          'invalid-request',
        );
      });

      it('reports to the model why a call was rejected', async () => {
        const { executionId, callId, argumentsHash } = await start('bob', 'danger');
        await app.events.seen('tool:approval_required', (event) => event.executionId === executionId);
        expect(
          await call('bob', 'ai.runs.reject', { executionId, callId, argumentsHash, reason: 'Not on a Sunday.' }),
        ).to.deep.equal({ executionId, callId, state: 'failed' });
        const failed = await app.events.seen('tool:failed', (event) => event.executionId === executionId);
        expect(failed.error.message).to.contain('Not on a Sunday.');
      });

      it('accepts an external result once', async () => {
        const { executionId, callId } = await start('bob', 'outside');
        await app.events.seen('tool:executing', (event) => event.executionId === executionId);
        expect(
          await call('bob', 'ai.runs.submitToolResult', { executionId, callId, output: { $set: { 'a.b': 1 } } }),
        ).to.deep.equal({ executionId, callId, result: 'accepted', state: 'completed' });
        expect(await call('bob', 'ai.runs.submitToolResult', { executionId, callId, error: 'late' })).to.deep.equal({
          executionId,
          callId,
          result: 'already-settled',
          state: 'completed',
        });
      });

      it('cancels a run, also when repeated', async () => {
        const { executionId } = await start('bob', 'outside');
        await call('bob', 'ai.runs.cancel', { executionId });
        await app.events.seen('run:cancelled', (event) => event.executionId === executionId);
        expect(await call('bob', 'ai.runs.cancel', { executionId })).to.equal('cancelled');
      });
    });

    describe('errors', () => {
      it('contain code, message and remedy, but no keys, causes or stacks', async () => {
        app.simulator.enqueue({
          status: 401,
          body: { error: { message: 'Incorrect API key provided: sk-of-all', code: 'invalid_api_key' } },
        });
        const error = await errorOf('bob', 'ai.llm.generateText', unique(RUN_REQUEST));
        expect(error.error).to.equal('auth-failed');
        expect(error.details).to.deep.equal({ retryable: false });
        expect(JSON.stringify(error) + error.message).not.to.match(/sk-of-all|at .*\.ts/);
      });

      it('report a response that violates its schema', async () => {
        app.simulator.enqueue({ text: '{"name":1}' }, { text: '{"name":2}' });
        const error = await errorOf('bob', 'ai.llm.generateJSON', unique({ ...RUN_REQUEST, schema: SCHEMA }));
        expect(error.error).to.equal('invalid-output');
        expect(JSON.stringify(error.details)).to.contain('name');
      });
    });

    it("do not block a client's other calls", async () => {
      const client = app.client('bob');
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      app.simulator.enqueue(async () => {
        await held;
        return { text: 'Late.' };
      });
      const slow = client.callAsync('ai.llm.generateText', unique(RUN_REQUEST));
      expect(await client.callAsync('ai.providers.list')).to.be.an('array');
      release();
      expect(await slow).to.equal('Late.');
    });

    it('ai.users.deleteData deletes the data of the caller, or for admins of anybody', async () => {
      const { executionId } = await start('cat', 'danger');
      const runsOf = (userId: string): Promise<readonly RunDocument[]> =>
        app.host.database.collection<RunDocument>('ai_runs').find({ userId });
      expect((await errorOf('nobody', 'ai.users.deleteData', { userId: 'cat' })).error).to.equal('auth-failed');
      expect((await errorOf('bob', 'ai.users.deleteData', { userId: 'cat' })).error).to.equal('permission-denied');
      for (const wrong of [undefined, null, {}, { userId: '' }, { userId: { $gt: '' } }, { userId: 'cat', all: true }])
        expect((await errorOf('cat', 'ai.users.deleteData', wrong)).error).to.equal('invalid-request');
      expect(await runsOf('cat')).not.to.deep.equal([]);
      const { deleted } = (await call('cat', 'ai.users.deleteData', { userId: 'cat' })) as {
        deleted: Record<string, number>;
      };
      expect(deleted['runs']).to.be.greaterThan(0);
      expect(await runsOf('cat')).to.deep.equal([]);
      await app.events.seen('run:cancelled', (event) => event.executionId === executionId);
      await start('cat', 'danger');
      expect(await call('ann', 'ai.users.deleteData', { userId: 'cat' })).to.have.nested.property('deleted.runs', 1);
    });

    it('ai.users.exportData returns the data of the caller in pages, or for admins of anybody', async () => {
      const { executionId } = await start('cat', 'danger');
      expect((await errorOf('nobody', 'ai.users.exportData', { userId: 'cat' })).error).to.equal('auth-failed');
      expect((await errorOf('bob', 'ai.users.exportData', { userId: 'cat' })).error).to.equal('permission-denied');
      for (const user of ['cat', 'ann'] as const) {
        const page = (await call(user, 'ai.users.exportData', { userId: 'cat' })) as UserDataPage;
        expect(page.next).to.equal(undefined);
        const runs = page.lines.map((line) => JSON.parse(line) as { kind: string; data: { _id: string } });
        expect(runs.find(({ kind }) => kind === 'runs')?.data._id).to.equal(executionId);
      }
      await call('cat', 'ai.runs.cancel', { executionId });
    });

    it('ai.tools.list returns the available tools to logged-in users', async () => {
      const tools = (await call('bob', 'ai.tools.list', {})) as readonly {
        readonly name: string;
        readonly blocking: boolean;
        readonly counts: object;
      }[];
      expect(tools.find(({ name }) => name === 'clock')).to.include({ blocking: true });
      expect((await errorOf('nobody', 'ai.tools.list', {})).error).to.equal('auth-failed');
    });

    it('ai.models.list and ai.prompts.* serve the playground', async () => {
      const { models } = (await call('bob', 'ai.models.list', {})) as { readonly models: readonly object[] };
      expect(models[0]).to.include({ providerId: 'shared', isDefault: true });
      const content = { input: 'Hello', tools: ['clock'] };
      const saved = (await call('bob', 'ai.prompts.save', { name: 'Hi', content })) as { readonly _id: string };
      expect(await call('bob', 'ai.prompts.get', { promptId: saved._id })).to.deep.include({ version: 1, content });
      expect(await call('cat', 'ai.prompts.list', {})).to.deep.equal({ prompts: [] });
      expect(await call('bob', 'ai.prompts.remove', { promptId: saved._id })).to.deep.equal({ removed: true });
    });

    describe('of providers', () => {
      it('show users what they may use, and let only admins change it', async () => {
        expect(await call('bob', 'ai.providers.list')).to.have.length(1);
        for (const name of ['create', 'update', 'remove', 'setApiKey', 'rotateKeys']) {
          expect((await errorOf('bob', `ai.providers.${name}`, { providerId: 'shared' })).error).to.equal(
            'permission-denied',
          );
          expect((await errorOf('nobody', `ai.providers.${name}`, { providerId: 'shared' })).error).to.equal(
            'auth-failed',
          );
        }
        for (const name of ['list', 'connect', 'disconnect', 'test', 'setMyApiKey'])
          expect((await errorOf('nobody', `ai.providers.${name}`)).error).to.equal('auth-failed');
        expect(await call('ann', 'ai.providers.update', { providerId: 'shared', name: 'Renamed' })).to.include({
          name: 'Renamed',
        });
      });

      it('accept one object', async () => {
        for (const wrong of [
          1,
          'shared',
          ['shared'],
          { providerId: { $gt: '' } },
          { providerId: 'shared', unknown: 1 },
        ]) {
          expect([400, 'invalid-request']).to.include((await errorOf('ann', 'ai.providers.test', wrong)).error);
        }
        expect((await errorOf('ann', 'ai.providers.test', { providerId: 'shared' }, {})).error).to.equal(
          'invalid-request',
        );
      });
    });

    describe('rate limits and failures', () => {
      it('limit the rate per connection, and per user over all connections', async () => {
        app.limitRates();
        const client = app.client('cat');
        const attempts = Array.from({ length: DDP_LIMITS.model + 1 }, () =>
          client.callAsync('ai.llm.generateText', {}).catch((error: unknown) => (error as ClientSeen).error),
        );
        const answers = await Promise.all(attempts);
        expect(answers.filter((code) => code === 'too-many-requests')).to.have.length(1);
        expect((await errorOf('cat', 'ai.llm.generateText', {})).error).to.equal('invalid-request');
        const more = await Promise.all(
          Array.from({ length: DDP_LIMITS.model }, () =>
            call('cat', 'ai.llm.generateText', {}).catch((error: unknown) => (error as ClientSeen).error),
          ),
        );
        expect(more).to.include('too-many-requests');
        expect((await errorOf('bob', 'ai.llm.generateJSON', {})).error).to.equal('invalid-request');
      });

      it('report every failure to the client, not only to the log', () => {
        const unexpected = registry.log.filter(
          ({ error }) => !(error instanceof Error && 'errorType' in error && error.errorType === 'Match.Error'),
        );
        expect(unexpected).to.deep.equal([]);
      });
    });
  }),
);
