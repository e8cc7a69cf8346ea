/**
 * The deletion of a user's data: complete in every collection, harmless to others, repeatable, and final even for
 * processes that still hold something of the user.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { endUserRuns } from '../../imports/business/ai/application/services/endUserRuns';
import type { AuditEntry } from '../../imports/business/ai/domain/types/AuditEntries';
import { createToolCall } from '../../imports/business/ai/domain/entities/Tool';
import { AUDIT } from '../../imports/business/audit/infrastructure/DocumentAuditStore';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RUN_OWNERS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { RUN_ITEMS } from '../../imports/business/ai/infrastructure/persistence/runs/RunTranscripts';
import { COLLECTIONS } from '../../imports/host/collections';
import { QUICK_DATABASES } from '../support/documentDatabases';
import { USER_LOADS } from '../../imports/business/limits/infrastructure/DocumentUserLoads';
import { failure } from '../support/failure';
import { runRequest } from '../support/runRequests';

import { ADA, ADMIN, BOB, CANARIES, IMPERSONAL, marksOf, SHARED_PROVIDER, FilledHost } from '../support/FilledHost';
import { inFlowingTime } from '../support/VirtualTime';

for (const [kind, open] of Object.entries(QUICK_DATABASES))
  describe(
    `The deletion of a user's data (${kind})`,
    inFlowingTime(() => {
      let test: FilledHost;
      beforeEach(async () => {
        test = await FilledHost.start(open);
      });
      afterEach(() => test.stop());

      it('leaves nothing of the user in any collection, and every document of others as it was', async () => {
        const runsOfAda = await test.fill(ADA);
        const runsOfBob = await test.fill(BOB);
        // A collection that neither this test fills nor is impersonal has appeared: cover it in both places.
        const filled = await test.dumpOf(ADA, runsOfAda);
        expect(COLLECTIONS.map(({ name }) => name)).to.include.members([...test.names]);
        for (const name of test.names)
          // Only the embedded database uses `RUN_ITEMS`.
          if (!IMPERSONAL.includes(name) && (name !== RUN_ITEMS || kind.startsWith('embedded')))
            expect(filled.get(name), `${name} holds something of the user`).not.to.be.empty;
        const bobBefore = new Map(await test.dumpOf(BOB, runsOfBob));
        const deleted = await test.host.deleteUserData(ADA);

        const all = await test.dump();
        for (const [name, documents] of all)
          for (const mark of marksOf(ADA, runsOfAda)) expect(documents.join('\n'), name).not.to.include(mark);
        const bobAfter = new Map(await test.dumpOf(BOB, runsOfBob));
        const isShared = (document: string): boolean => document.includes(`"_id":"${SHARED_PROVIDER}"`);
        // Counters of a minute that has ended go by themselves.
        const isExpired = (document: string): boolean =>
          Date.parse((JSON.parse(document) as { readonly expiresAt?: string }).expiresAt ?? '') <= Date.now();
        const compared = (documents: readonly string[] = []): readonly string[] =>
          documents.filter((document) => !isShared(document) && !isExpired(document));
        for (const [name, documents] of bobBefore)
          expect(compared(bobAfter.get(name)), name).to.deep.equal(compared(documents));
        expect((await test.host.providers.service.find(SHARED_PROVIDER))?.access).to.deep.include({
          users: [BOB, ADMIN],
          roles: [BOB, ADMIN],
        });
        for (const kindOfData of [
          'runs',
          'toolCalls',
          'liveTexts',
          'commands',
          'jobs',
          'statistics',
          'messages',
          'chatTurns',
          'responses',
          'cachedResponses',
          'responseEvents',
          'conversations',
          'conversationItems',
          'requests',
          'requestBodies',
          'chats',
          'vendorObjects',
          'batches',
          'userBatches',
          'batchRequests',
          'serverJobs',
          'backgroundCalls',
          'mcpAccounts',
          'toolTasks',
          'prompts',
          'memories',
          'budgets',
          'rateWindows',
          'usageWindows',
          'apiTokens',
          'sessions',
          'identities',
          'providers',
          'accessEntries',
          'credentials',
          'authorizations',
        ])
          expect(deleted, kindOfData).to.have.property(kindOfData).that.is.greaterThan(0);
        // The acts stay, under one pseudonym. Those of the admin on what was Ada's stay the admin's.
        const entries = (all.get(AUDIT) ?? []).map((json) => JSON.parse(json) as AuditEntry);
        const ofAda = entries.filter(({ userId }) => userId.startsWith('deleted-'));
        expect(new Set(ofAda.map(({ userId }) => userId)).size).to.equal(1);
        expect(ofAda.map(({ action }) => action)).to.include.members([
          'token.create',
          'prompt.save',
          'provider.set_own_key',
        ]);
        expect(
          ofAda.every((entry) => !('details' in entry) && !('address' in entry) && !('userAgent' in entry)),
        ).to.equal(true);
        const budgets = entries.filter(({ action, userId }) => action === 'budget.set' && userId === ADMIN);
        expect(budgets.map(({ subject }) => subject.ownerId)).to.have.members([BOB, ofAda[0]?.userId]);
        // Bob's run still waits, and can be decided.
        expect(await test.host.module.runs.load(runsOfBob[1] ?? '')).to.have.nested.property('run.state', 'running');
      });

      it('can be repeated, and does nothing for a user without data', async () => {
        await test.fill(ADA);
        await test.host.deleteUserData(ADA);
        const again = await test.host.deleteUserData(ADA);
        expect(Object.values(again).every((count) => count === 0)).to.equal(true);
      });

      it('completes after an interruption at any write', async () => {
        const runs = await test.fill(ADA);
        const { database } = test.opened;
        const collection = database.collection.bind(database);
        let isDone = false;
        for (let allowed = 0; !isDone; allowed += 3) {
          let left = allowed;
          // The stores that the host holds are created; those of the deletion are created when it needs them.
          database.collection = (name) => {
            const real = collection(name);
            return new Proxy(real, {
              get(target, property, receiver) {
                const value: unknown = Reflect.get(target, property, receiver);
                if (property !== 'remove' || typeof value !== 'function') return value;
                return (selector: unknown) => {
                  if (left === 0) return Promise.reject(new Error('The process died.'));
                  left -= 1;
                  return (value as (given: unknown) => unknown).call(target, selector);
                };
              },
            }) as never;
          };
          isDone = await test.host.deleteUserData(ADA).then(
            () => true,
            (error: unknown) => {
              expect(error).to.have.property('message', 'The process died.');
              return false;
            },
          );
        }
        database.collection = collection;
        for (const [name, documents] of await test.dump())
          for (const mark of marksOf(ADA, runs)) expect(documents.join('\n'), name).not.to.include(mark);
      });

      it('cannot be undone by a process that still believes to own a run', async () => {
        const store = await openRunStore(test.opened.database);
        await store.heartbeat('elsewhere');
        const lease = await store.create({ ...runRequest('lost'), userId: ADA }, 'running', 'elsewhere');
        const call = createToolCall({
          id: 'c1',
          call_id: 'c1',
          name: 'clock',
          arguments: '{}',
          blocking: true,
          createdAt: 1,
        });
        expect(await store.saveCalls(lease, [call])).to.equal(true);
        await endUserRuns({ loop: test.host.module.loop, store, patienceMs: 50 }, ADA);
        await test.host.deleteUserData(ADA);
        expect(await store.saveRun(lease, { state: 'running' })).to.equal(false);
        expect(await store.saveCalls(lease, [call])).to.equal(false);
        expect(await store.saveCalls(lease, [{ ...call, id: 'c2' }])).to.equal(false);
        expect(await store.claim(lease, 'elsewhere')).to.equal(undefined);
        for (const [name, documents] of await test.dump())
          if (name !== RUN_OWNERS) expect(documents.join('\n'), name).not.to.include('lost');
      });

      if (kind !== 'embedded (SQLite)')
        it('ends the runs of other processes, which bring nothing back', async () => {
          const other = await FilledHost.start(() =>
            Promise.resolve({ ...test.opened, close: () => Promise.resolve() }),
          );
          const waiting = await test.startRun(ADA, 'danger', 'r1');
          await test.events.seen('tool:approval_required', ({ executionId }) => executionId === waiting);
          await other.host.deleteUserData(ADA);
          await test.events.seen('run:cancelled', ({ executionId }) => executionId === waiting);
          await test.host.runs.settled();
          for (const [name, documents] of await test.dump())
            for (const mark of marksOf(ADA, [waiting])) expect(documents.join('\n'), name).not.to.include(mark);
          await other.stop();
        });

      it('cancels responses in the background, which stay deleted', async () => {
        let finish = (): void => undefined;
        const finished = new Promise<void>((resolve) => (finish = resolve));
        test.simulator.enqueue(async () => {
          await finished;
          return { text: CANARIES[ADA] ?? '' };
        });
        const response = await test.request(ADA, 'POST', '/v1/responses', {
          model: SHARED_PROVIDER,
          input: CANARIES[ADA],
          background: true,
        });
        expect(response.status).to.equal(200);
        await test.simulator.nextRequest();
        await test.host.deleteUserData(ADA);
        finish();
        for (const [name, documents] of await test.dump())
          for (const mark of marksOf(ADA, [])) expect(documents.join('\n'), name).not.to.include(mark);
      });

      it('is not undone by a response in the background of another process', async () => {
        let finish = (): void => undefined;
        const finished = new Promise<void>((resolve) => (finish = resolve));
        test.simulator.enqueue(async () => {
          await finished;
          return { text: CANARIES[ADA] ?? '' };
        });
        await test.request(ADA, 'POST', '/v1/responses', { model: SHARED_PROVIDER, input: 'x', background: true });
        await test.simulator.nextRequest();
        const responses = test.opened.database.collection('ai_responses');
        expect(await responses.remove({ userId: ADA })).to.equal(1);
        finish();
        await test.host.api.close();
        expect(await responses.find({})).to.deep.equal([]);
      });

      describe('over HTTP', () => {
        const path = (userId: string): string => `/api/user-data/${encodeURIComponent(userId)}`;

        it('is open to the user and to admins only', async () => {
          const runs = await test.fill(ADA);
          const before = await test.dumpOf(ADA, runs);
          expect((await test.request(BOB, 'DELETE', path(ADA))).status).to.equal(403);
          const { token } = await test.host.apiTokens.tokens.issue({ userId: ADA, name: 'x', scopes: ['generate'] });
          const { port } = (test as unknown as { server: Server }).server.address() as AddressInfo;
          const byToken = await fetch(`http://127.0.0.1:${port}${path(ADA)}`, {
            method: 'DELETE',
            headers: { authorization: `Bearer ${token}` },
          });
          expect(byToken.status, 'an API token is not enough').to.equal(403);
          expect((await test.dumpOf(ADA, runs)).get('ai_runs')).to.deep.equal(before.get('ai_runs'));
          const own = await test.request(ADA, 'DELETE', path(ADA));
          expect(own.status).to.equal(200);
          expect(await own.json())
            .to.have.nested.property('deleted.runs')
            .that.is.greaterThan(0);
          expect((await test.dumpOf(ADA, runs)).get('ai_runs')).to.deep.equal([]);
          const byAdmin = await test.request(ADMIN, 'DELETE', path(ADA));
          expect(byAdmin.status).to.equal(200);
          expect(await byAdmin.json()).to.have.nested.property('deleted.runs', 0);
        });

        it('keeps the counters of limits if the user asks, so that no budget starts anew', async () => {
          const runs = await test.fill(ADA);
          await test.request(ADA, 'DELETE', path(ADA));
          const left = await test.dumpOf(ADA, runs);
          const names = [...left].flatMap(([name, documents]) => (documents.length > 0 ? [name] : []));
          const counters = ['ai_budget_limits', 'ai_budgets', 'ai_provider_usage', 'ai_rate_windows'];
          expect(names).to.have.members(test.opened.database.isExclusive ? counters : [...counters, USER_LOADS]);
          for (const [name, documents] of left) expect(documents.join(), name).not.to.include(CANARIES[ADA]);
        });
      });

      it('rejects ids that are none', async () => {
        for (const userId of ['', 'system', undefined, { $gt: '' }])
          expect(await failure(test.host.deleteUserData(userId as string))).to.have.property('code', 'invalid-request');
      });
    }),
  );
