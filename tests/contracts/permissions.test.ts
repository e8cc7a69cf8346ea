/**
 * Who may do what, by one table of all operations: over HTTP and as Meteor methods, a user who is no admin gets none of
 * the admins' operations and nothing of another user. An operation without an entry does not compile, and fails.
 */
import { expect } from 'chai';
import { safeParse } from 'valibot';
import { argumentsHash } from '../../imports/business/ai/application/services/shared/argumentsHash';
import type { AuditAction, AuditEntry } from '../../imports/business/ai/domain/types/AuditEntries';
import { isObject } from '../../imports/business/ai/domain/util/json';
import { routesOf } from '../../imports/host/defineOperation';
import { OPERATIONS } from '../../imports/host/operations';
import type { DefinedOperations } from '../../imports/host/operations';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Simulator } from '../../imports/simulator/Simulator';
import type { Host } from '../../imports/host/createHost';
import { OPERATION_TABLE } from '../../imports/ui/data/operationTable';
import { operationRequest } from '../../imports/ui/data/http/operationRequest';
import type { OperationRequest } from '../../imports/ui/data/http/operationRequest';
import { registry } from '../stubs/server/registry';
import { startMeteorApp } from '../support/meteorApp';
import { recordEvents } from '../support/recordEvents';
import { runRequest } from '../support/runRequests';
import { startStandalone } from '../support/startStandalone';
import { until } from '../support/until';
import { leaveWaitingRun } from '../support/waitingRun';
import { allInSoak } from '../support/soak';
import { inFlowingTime } from '../support/VirtualTime';

/** Bob is no admin, and has nothing to do with Cat. */
type Person = 'admin' | 'bob' | 'nobody';
type Name = keyof DefinedOperations;

/** What belongs to Cat, and to the operator. */
interface Stored {
  readonly run: string;
  readonly failedRun: string;
  readonly queuedRun: string;
  readonly request: string;
  readonly token: string;
  readonly prompt: string;
  readonly memory: string;
  readonly sharedPrompt: string;
  readonly hash: string;
}

type Argument = object | ((stored: Stored) => object);

/** How an operation treats users who are no admins. */
type Rule = (
  | { readonly of: 'admins'; readonly argument?: Argument }
  /** Acts on something of Cat's, which does not exist for others. */
  | { readonly of: 'owner'; readonly argument: Argument; readonly refusal?: string }
  /** Lists what the user may see, which is nothing of Cat's. `others` asks for hers by name. */
  | {
      readonly of: 'lists';
      readonly argument?: Argument;
      readonly others?: Argument;
      readonly adminSees?: 'own' | 'numbers';
    }
  | { readonly of: 'everyone'; readonly argument?: Argument }
) & {
  /** The admin's error, if the argument is not one that succeeds. */
  readonly adminGets?: string;
  /** What the admin's call sets in motion, whose end is waited for. */
  readonly starts?: 'run' | 'schedule';
  /** Over HTTP, API tokens without the scope `admin` are refused in any case. */
  readonly needsLogin?: true;
};

/** Part of the texts and ids of what Bob may not see. */
const MARK = 'of-cat';
/** Matches the word in the mark, and Cat's id. */
const TRACE = /\bcat\b/;
const ROOT = { userId: 'root', isAdmin: true, source: 'http' } as const;
const CAT = { userId: 'cat', source: 'http' } as const;
const ASK = { providerId: 'shared', input: 'Hello' };
const PRIVATE = { providerId: `private-${MARK}` };
const call = (executionId: string) => ({ executionId, callId: 'call' });
const NOTE = { executionId: `cancelled-${MARK}`, messageId: 'note' };
const report = () => ({ from: Date.now() - 3_600_000, to: Date.now() + 3_600_000, interval: 'hour' });
const UNKNOWN_PROVIDER = { refusal: 'permission-denied' };
const BATCH = { batchId: `batch-${MARK}` };
/** It has neither keys of individual users nor OAuth. */
const WRONG_KIND = { adminGets: 'invalid-request' };

/** In the order of the tests: what removes something comes last. */
const RULES: Readonly<Record<Name, Rule>> = {
  // Before Bob has asked for anything of Cat's: what he names is in his entries.
  'ai.audit.list': { of: 'lists', others: { userId: 'cat' } },
  'ai.llm.generateText': { of: 'everyone', argument: { ...ASK, requestId: 'text' } },
  'ai.llm.generateJSON': { of: 'everyone', argument: { ...ASK, requestId: 'json', schema: { type: 'object' } } },
  'ai.llm.generateWithTools': { of: 'everyone', argument: { ...ASK, requestId: 'tools', tools: [] } },
  'ai.llm.embed': { of: 'everyone', argument: { ...ASK, model: 'text-embedding-3-small', input: ['Hello'] } },
  'ai.runs.start': { of: 'everyone', argument: { ...ASK, requestId: 'run', tools: [] } },
  'ai.runs.list': { of: 'lists', others: { userId: 'cat' } },
  'ai.runs.summary': { of: 'lists', others: { userId: 'cat' }, adminSees: 'numbers' },
  'ai.runs.get': { of: 'owner', argument: ({ run }) => ({ executionId: run }) },
  'ai.runs.export': { of: 'owner', argument: ({ run }) => ({ executionId: run }) },
  'ai.runs.rate': { of: 'owner', argument: ({ run }) => ({ executionId: run, rating: 'up' }) },
  'ai.runs.tag': { of: 'owner', argument: ({ run }) => ({ executionId: run, tags: ['seen'] }) },
  'ai.inbox.list': { of: 'lists' },
  'ai.users.storage': { of: 'lists', others: { userId: 'cat' }, adminSees: 'own' },
  'ai.runs.getCall': { of: 'owner', argument: call(`approved-${MARK}`) },
  'ai.runs.approve': {
    of: 'owner',
    argument: ({ hash }) => ({ ...call(`approved-${MARK}`), argumentsHash: hash }),
    starts: 'run',
  },
  'ai.runs.reject': {
    of: 'owner',
    argument: ({ hash }) => ({ ...call(`rejected-${MARK}`), argumentsHash: hash }),
    starts: 'run',
  },
  'ai.runs.submitToolResult': { of: 'owner', argument: { ...call(`reviewed-${MARK}`), output: 'done' }, starts: 'run' },
  'ai.runs.signal': { of: 'owner', argument: { executionId: `cancelled-${MARK}`, name: 'paid' } },
  'ai.runs.send': { of: 'owner', argument: { ...NOTE, message: 'Hello', when: 'after' } },
  'ai.runs.messages': { of: 'owner', argument: { executionId: NOTE.executionId } },
  'ai.runs.editMessage': { of: 'owner', argument: { ...NOTE, message: 'Hi' } },
  'ai.runs.withdrawMessage': { of: 'owner', argument: NOTE },
  'ai.runs.cancel': { of: 'owner', argument: { executionId: `cancelled-${MARK}` }, starts: 'run' },
  'ai.runs.resume': { of: 'owner', argument: { executionId: `parked-${MARK}` }, starts: 'run' },
  'ai.inbox.dismiss': { of: 'owner', argument: ({ failedRun }) => ({ executionId: failedRun }) },
  'ai.tools.list': { of: 'everyone' },
  'ai.users.me': { of: 'everyone' },
  'ai.users.names': { of: 'admins', argument: { userIds: ['cat'] } },
  'ai.models.list': { of: 'lists' },
  'ai.requests.list': { of: 'lists', others: { userId: 'cat' } },
  'ai.requests.get': { of: 'owner', argument: ({ request }) => ({ requestId: request }) },
  'ai.usage.report': {
    of: 'lists',
    argument: () => ({ ...report(), groupBy: 'user' }),
    others: () => ({ ...report(), groupBy: 'user', userId: 'cat' }),
  },
  'ai.batches.list': { of: 'lists', adminSees: 'own' },
  'ai.batches.get': { of: 'owner', argument: BATCH, adminGets: 'unknown' },
  'ai.batches.results': { of: 'owner', argument: BATCH, adminGets: 'unknown' },
  'ai.batches.cancel': { of: 'owner', argument: BATCH, adminGets: 'unknown' },
  'ai.batches.create': {
    of: 'admins',
    argument: { ...BATCH, ...PRIVATE, requests: [{ input: 'Hello' }] },
  },
  'ai.memory.list': { of: 'lists', adminSees: 'own' },
  'ai.memory.search': { of: 'lists', argument: { query: MARK }, adminSees: 'own' },
  'ai.memory.save': { of: 'everyone', argument: { text: 'Likes tea.' } },
  // Everyone may call it, but it forgets nothing of other users.
  'ai.memory.forget': { of: 'everyone', argument: ({ memory }) => ({ memoryId: memory }) },
  'ai.prompts.list': { of: 'lists', adminSees: 'own' },
  'ai.prompts.get': { of: 'owner', argument: ({ prompt }) => ({ promptId: prompt }), adminGets: 'unknown' },
  'ai.prompts.save': { of: 'admins', argument: { name: 'For all', shared: true, content: { input: 'Hello' } } },
  'ai.prompts.label': {
    of: 'admins',
    argument: ({ sharedPrompt }) => ({ promptId: sharedPrompt, label: 'production', version: 1 }),
  },
  'ai.prompts.remove': { of: 'admins', argument: ({ sharedPrompt }) => ({ promptId: sharedPrompt }) },
  'ai.routing.list': { of: 'admins' },
  'ai.routing.save': { of: 'admins', argument: { name: 'fast', targets: ['shared'] } },
  'ai.routing.remove': { of: 'admins', argument: { name: 'fast' } },
  'ai.mcpServers.list': { of: 'admins' },
  'ai.mcpServers.save': {
    of: 'admins',
    argument: { name: 'docs', url: 'https://mcp.invalid', oauth: { accounts: 'user' } },
  },
  'ai.mcpAccounts.list': { of: 'everyone' },
  'ai.mcpAccounts.signIn': { of: 'everyone', argument: { server: 'docs' } },
  'ai.mcpAccounts.signOut': { of: 'everyone', argument: { server: 'docs' } },
  'ai.mcpServers.get': { of: 'admins', argument: { name: 'docs' } },
  'ai.mcpServers.setEnabled': { of: 'admins', argument: { name: 'docs', enabled: false } },
  'ai.mcpServers.test': {
    of: 'admins',
    argument: { name: 'docs', url: 'https://127.0.0.1' },
    adminGets: 'connection-failed',
  },
  'ai.mcpServers.reconnect': { of: 'admins', argument: { name: 'docs' } },
  'ai.mcpServers.approve': { of: 'admins', argument: { name: 'docs', tools: [] } },
  'ai.mcpServers.setTool': {
    of: 'admins',
    argument: { name: 'docs', tool: 'none', enabled: false },
    adminGets: 'invalid-request',
  },
  'ai.mcpServers.remove': { of: 'admins', argument: { name: 'docs' } },
  'ai.budgets.list': { of: 'lists', argument: { search: 'c' } },
  'ai.budgets.set': { of: 'admins', argument: { userId: 'cat', limits: { day: { calls: 0 } } } },
  'ai.budgets.remove': { of: 'admins', argument: { userId: 'cat' } },
  'ai.queue.list': { of: 'lists' },
  'ai.queue.pause': { of: 'admins' },
  'ai.queue.resume': { of: 'admins' },
  'ai.queue.runNow': { of: 'owner', argument: ({ queuedRun }) => ({ executionId: queuedRun }), starts: 'run' },
  'ai.schedules.list': { of: 'admins' },
  'ai.schedules.pause': { of: 'admins', argument: { name: 'nightly' } },
  'ai.schedules.resume': { of: 'admins', argument: { name: 'nightly' } },
  'ai.schedules.runNow': { of: 'admins', argument: { name: 'nightly' }, starts: 'schedule' },
  'ai.tokens.list': { of: 'lists', argument: {}, others: { userId: 'cat' }, needsLogin: true },
  'ai.tokens.create': { of: 'admins', argument: { userId: 'cat', name: 'A key to her data' } },
  'ai.tokens.update': { of: 'admins', argument: ({ token }) => ({ userId: 'cat', id: token, models: ['gpt-5-mini'] }) },
  'ai.tokens.usage': { of: 'admins', argument: ({ token }) => ({ userId: 'cat', id: token }) },
  'ai.tokens.rotate': { of: 'admins', argument: ({ token }) => ({ userId: 'cat', id: token }) },
  'ai.tokens.revoke': { of: 'admins', argument: ({ token }) => ({ userId: 'cat', id: token }) },
  'ai.providers.list': { of: 'lists' },
  'ai.providers.vendors': { of: 'everyone' },
  'ai.providers.health': { of: 'lists' },
  'ai.providers.models': { of: 'owner', argument: PRIVATE, ...UNKNOWN_PROVIDER },
  'ai.providers.test': { of: 'owner', argument: PRIVATE, ...UNKNOWN_PROVIDER },
  'ai.providers.setMyApiKey': {
    of: 'owner',
    argument: { ...PRIVATE, apiKey: 'sk-mine' },
    ...UNKNOWN_PROVIDER,
    ...WRONG_KIND,
  },
  'ai.providers.connect': { of: 'owner', argument: PRIVATE, ...UNKNOWN_PROVIDER, ...WRONG_KIND },
  'ai.providers.disconnect': { of: 'owner', argument: PRIVATE, ...UNKNOWN_PROVIDER, ...WRONG_KIND },
  'ai.providers.get': { of: 'admins', argument: { providerId: 'shared' } },
  'ai.providers.create': { of: 'admins', argument: { name: 'New', vendor: 'openai', auth: { kind: 'api_key' } } },
  'ai.providers.update': { of: 'admins', argument: { providerId: 'shared', name: 'Changed' } },
  'ai.providers.setApiKey': { of: 'admins', argument: { providerId: 'shared', apiKey: 'sk-other' } },
  'ai.providers.rotateKeys': { of: 'admins' },
  'ai.providers.remove': { of: 'admins', argument: { providerId: 'shared' } },
  'ai.users.exportData': { of: 'admins', argument: { userId: 'cat' } },
  'ai.runs.remove': { of: 'owner', argument: ({ failedRun }) => ({ executionId: failedRun }) },
  'ai.users.deleteData': { of: 'admins', argument: { userId: 'cat' } },
};

/** The gateway has others in their place. */
const METHODS_ONLY: readonly Name[] = [
  'ai.llm.generateText',
  'ai.llm.generateJSON',
  'ai.llm.generateWithTools',
  'ai.llm.embed',
];

interface Outcome {
  /** Absent: it was done. */
  readonly refusal?: string;
  readonly result?: unknown;
}

interface Opened {
  readonly host: Host;
  readonly simulator: Simulator;
  readonly adminId: string;
  /** The operations that can be called from outside. */
  readonly offered: readonly string[];
  call(person: Person, name: Name, argument: object | undefined): Promise<Outcome>;
  close(): Promise<void>;
}

const HOSTS: Readonly<Record<string, () => Promise<Opened>>> = {
  'over HTTP': openHttp,
  'as Meteor methods': openMeteor,
};

for (const [transport, open] of allInSoak(Object.entries(HOSTS), 1)) {
  describe(
    `permissions ${transport}`,
    inFlowingTime(() => {
      let opened: Opened;
      let stored: Stored;
      before(async () => {
        opened = await open();
        stored = await store(opened);
      });
      after(async () => (opened as Opened | undefined)?.close());

      const given = (argument: Argument | undefined): object | undefined =>
        typeof argument === 'function' ? (argument as (from: Stored) => object)(stored) : argument;

      /** The attempt is refused, and what is stored stays as it is. */
      async function expectRefusal(
        person: Person,
        name: Name,
        argument: Argument | undefined,
        code: string,
      ): Promise<void> {
        const day = new Date().getUTCDate();
        const before = await stateOf(opened.host);
        const { refusal } = await opened.call(person, name, given(argument));
        expect(refusal, `${name} by ${person}`).to.equal(code);
        const after = await stateOf(opened.host);
        // What was used today begins anew at midnight.
        if (new Date().getUTCDate() !== day) return expectRefusal(person, name, argument, code);
        expect(after, `${name} by ${person} changes nothing`).to.deep.equal(before);
      }

      it('are stated for every operation', () => {
        const names = Object.keys(opened.host.operations);
        expect(names.toSorted()).to.deep.equal(Object.keys(RULES).toSorted());
        expect(opened.offered.toSorted()).to.deep.equal(names.filter((name) => isOffered(name as Name)).toSorted());
      });

      const isHttp = transport === 'over HTTP';
      /** Meteor's clients learn about the argument, those of HTTP about what they asked for. */
      const unknown = isHttp ? 'not-found' : 'invalid-request';
      const isOffered = (name: Name): boolean => !isHttp || !METHODS_ONLY.includes(name);
      for (const [name, rule] of Object.entries(RULES) as [Name, Rule][]) {
        if (!isOffered(name)) continue;
        it(`${name} is for ${rule.of === 'lists' ? 'everyone, with what is theirs' : rule.of}`, async () => {
          await expectRefusal('nobody', name, rule.argument, 'auth-failed');
          if (rule.of === 'admins') await expectRefusal('bob', name, rule.argument, 'permission-denied');
          if (rule.of === 'owner') await expectRefusal('bob', name, rule.argument, rule.refusal ?? unknown);
          if (rule.of === 'lists' && rule.others !== undefined)
            await expectRefusal('bob', name, rule.others, 'permission-denied');
          if (rule.of === 'everyone' || rule.of === 'lists') {
            const own = await opened.call('bob', name, given(rule.argument));
            expect(own.refusal).to.equal(isHttp && rule.needsLogin === true ? 'permission-denied' : undefined);
            expect(JSON.stringify(own.result ?? null)).to.not.match(TRACE);
          }
          const argument = rule.of === 'lists' && rule.others !== undefined ? rule.others : rule.argument;
          const before = await auditOf(opened.host);
          const all = await opened.call('admin', name, given(argument));
          const entries = (await auditOf(opened.host)).slice(before.length).filter(({ userId }) => userId !== 'bob');
          expect(
            entries.map(({ action }) => action),
            'in the audit trail',
          ).to.deep.equal(auditedAs(name));
          for (const { outcome, userId, address } of entries) {
            expect(outcome).to.equal(all.refusal === undefined ? 'done' : 'failed');
            expect([userId, address]).to.deep.equal([opened.adminId, '127.0.0.1']);
          }
          expect(all.refusal, 'of the admin').to.equal(rule.adminGets === 'unknown' ? unknown : rule.adminGets);
          expectDocumented(name, all.result);
          if (rule.starts !== undefined) await until(() => hasEnded(opened.host, rule.starts, given(argument)));
          if (rule.of === 'lists' && rule.adminSees === undefined)
            expect(JSON.stringify(all.result), 'of the admin').to.match(TRACE);
        });
      }
    }),
  );
}

async function hasEnded({ module, operations }: Host, kind: Rule['starts'], argument: object = {}): Promise<boolean> {
  if (kind === 'schedule')
    return (await operations['ai.schedules.list'](ROOT)).every(({ lastRun }) => lastRun?.endedAt !== undefined);
  const { executionId = '' } = argument as { readonly executionId?: string };
  return (await module.runs.load(executionId))?.run.endedAt !== undefined;
}

/** All entries, oldest first. */
async function auditOf({ operations }: Host): Promise<readonly AuditEntry[]> {
  const { entries } = await operations['ai.audit.list'](ROOT, { order: 'asc', limit: 200 });
  return entries;
}

/** The result is what its schema says. */
function expectDocumented(name: Name, result: unknown): void {
  const definition = OPERATIONS.find((each) => each.name === name);
  if (definition === undefined || result === undefined || typeof result === 'string') return;
  const field = routesOf(definition)[0]?.field;
  const value = field === undefined || !isObject(result) || !(field in result) ? result : result[field];
  expect(safeParse(definition.result, value).issues, `the result of ${name}`).to.equal(undefined);
}

/** The actions of the entries that the operation is to leave. */
function auditedAs(name: Name): readonly AuditAction[] {
  const audit = OPERATIONS.find((each) => each.name === name)?.audit;
  return typeof audit === 'object' ? [audit.action] : [];
}

/** Everything that the refused operations could change, as text. */
async function stateOf({ operations, module, requestLog }: Host): Promise<string> {
  await requestLog.flush();
  const { tokens } = await operations['ai.tokens.list'](ROOT, { all: true });
  const { runs } = await operations['ai.runs.list'](ROOT, { userId: 'cat' });
  const { servers } = await operations['ai.mcpServers.list'](ROOT);
  return JSON.stringify([
    tokens.map(({ lastUsedAt: _, ...token }) => token),
    await Promise.all(runs.map(async ({ _id }) => (await module.runs.load(_id))?.calls)),
    // Whether a tool has changed since its run began is recorded when the run has been recovered.
    runs.map(({ changedTools: _, ...run }) => run),
    await operations['ai.inbox.list'](ROOT),
    await operations['ai.requests.list'](ROOT, { userId: 'cat' }),
    await operations['ai.prompts.list'](CAT),
    await operations['ai.memory.list'](CAT),
    await operations['ai.batches.list'](CAT),
    await operations['ai.budgets.list'](ROOT, { search: 'cat' }),
    await operations['ai.routing.list'](ROOT),
    // The server connects, fails and tries again by itself.
    servers.map(({ health: _, ...server }) => server),
    await operations['ai.queue.list'](ROOT),
    await operations['ai.schedules.list'](ROOT),
    await operations['ai.providers.list'](ROOT),
  ]);
}

/** Cat has one of everything, and so has the operator. */
async function store({ host, simulator }: Opened): Promise<Stored> {
  const { operations, module, apiTokens, requestLog } = host;
  const account = {
    vendor: 'openai',
    baseURL: simulator.baseURL('openai'),
    auth: { kind: 'api_key' },
    apiKey: 'sk-any',
  };
  await operations['ai.providers.create'](ROOT, { ...account, ...PRIVATE, name: 'Private', access: 'admins' });
  module.tools.register({ name: 'charge', description: 'Takes money.', needsApproval: true, execute: () => 'done' });
  // Without accounts, those who have a token are the users.
  const { id: token } = await apiTokens.tokens.issue({ userId: 'cat', name: `A token ${MARK}`, scopes: ['read'] });
  const events = recordEvents(module.loop);
  const end = async (title: string, type: 'run:completed' | 'run:failed'): Promise<string> => {
    const request = { requestId: type, providerId: 'shared', input: title, tools: [] };
    const { executionId } = await operations['ai.runs.start'](CAT, request);
    await events.seen(type, (event) => event.executionId === executionId);
    return executionId;
  };
  const run = await end(`A question ${MARK}`, 'run:completed');
  simulator.enqueue({ status: 400, body: { error: { message: 'No.', type: 'invalid_request_error' } } });
  const failedRun = await end(`A failure ${MARK}`, 'run:failed');
  for (const name of ['approved', 'rejected', 'reviewed', 'cancelled'])
    await leaveWaitingRun(module, {
      ...{ executionId: `${name}-${MARK}`, userId: 'cat', providerId: 'shared', tool: 'charge', arguments: {} },
      waitsFor: name === 'reviewed' ? 'review' : 'approval',
    });
  const lease = await module.runs.create(
    runRequest(`parked-${MARK}`, { userId: 'cat', providerId: 'shared' }),
    'running',
    'x',
  );
  await module.runs.park(lease, { reason: 'max-takeovers', message: `Parked ${MARK}`, at: 1 });
  const later = { requestId: 'later', providerId: 'shared', input: `A report ${MARK}`, tools: [] };
  const queued = await module.useCases.queueRun.execute(CAT, later, Date.now() + 86_400_000);
  await module.jobs.schedule({ name: 'nightly', cron: '0 3 1 1 *' }, () => Promise.resolve());
  await requestLog.flush();
  const { requests } = await operations['ai.requests.list'](CAT, { executionId: run });
  await operations['ai.budgets.set'](ROOT, { userId: 'cat', limits: { day: { calls: 1_000 } } });
  const content = { input: 'Hello' };
  const prompt = await operations['ai.prompts.save'](CAT, { name: `A prompt ${MARK}`, content });
  const shared = await operations['ai.prompts.save'](ROOT, { name: 'Shared', shared: true, content });
  const task = { input: `A task ${MARK}` };
  const isEnded = async (): Promise<boolean> => (await operations['ai.batches.get'](CAT, BATCH)).state === 'completed';
  await operations['ai.batches.create'](CAT, { ...BATCH, providerId: 'shared', requests: [task] });
  await until(isEnded);
  await requestLog.flush();
  const memory = await operations['ai.memory.save'](CAT, { text: `A memory ${MARK}` });
  return {
    run,
    failedRun,
    queuedRun: queued.executionId,
    request: requests[0]?._id ?? '',
    token,
    prompt: prompt._id,
    memory: memory.id,
    sharedPrompt: shared._id,
    hash: argumentsHash('{}'),
  };
}

async function openHttp(): Promise<Opened> {
  const simulator = await startSimulator();
  const ADMIN_TOKEN = 'the-token-of-the-admin-user';
  const server = await startStandalone({ BOLIDE_API_TOKEN: ADMIN_TOKEN, AI_ALLOW_PRIVATE_HOSTS: 'true' });
  const { host } = server;
  await host.providers.service.create({
    ...{ providerId: 'shared', name: 'Shared', vendor: 'openai', baseURL: simulator.baseURL('openai') },
    ...{ auth: { kind: 'api_key' }, apiKey: 'sk-of-all', access: 'everyone' },
  });
  const { token } = await host.apiTokens.tokens.issue({
    userId: 'bob',
    name: 'bob',
    scopes: ['generate', 'read', 'approve'],
  });
  const tokens: Readonly<Record<Person, string>> = { admin: ADMIN_TOKEN, bob: token, nobody: 'none' };
  const routes: Readonly<Record<string, (argument: never) => OperationRequest>> = {
    ...Object.fromEntries(
      Object.entries(OPERATION_TABLE).flatMap(([name, entry]) =>
        entry.routes.length === 0 ? [] : [[name, (argument: object) => operationRequest(entry, argument)] as const],
      ),
    ),
  };
  return {
    host,
    simulator,
    adminId: 'local',
    offered: Object.keys(routes),
    async call(person, name, argument = {}) {
      // The table has the operation's argument.
      const { method, path, body } = routes[name]!(argument as never);
      const response = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${tokens[person]}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const isFile = response.headers.has('content-disposition');
      const result = (await (isFile ? response.text() : response.json())) as {
        readonly error?: { readonly code: string };
      };
      return response.ok ? { result } : { refusal: result.error?.code ?? `HTTP ${response.status}` };
    },
    async close() {
      await server.close();
      await simulator.close();
    },
  };
}

async function openMeteor(): Promise<Opened> {
  const app = await startMeteorApp();
  const people = { admin: 'ann', bob: 'bob', nobody: 'nobody' } as const;
  return {
    host: app.host,
    simulator: app.simulator,
    adminId: people.admin,
    offered: [...registry.methods.keys()].filter((name) => name.startsWith('ai.')),
    call: (person, name, argument) =>
      app.call(people[person], name, ...(argument === undefined ? [] : [argument])).then(
        (result) => ({ result }),
        (error: unknown) => ({ refusal: String((error as { readonly error?: unknown }).error) }),
      ),
    close: () => app.stop(),
  };
}
