/** The stored audit trail, on every database: append-only, expiring, and without those whose data was deleted. */
import { expect } from 'chai';
import { AUDIT_OPERATIONS } from '../../imports/business/audit/application/auditOperations';
import { DocumentAuditStore } from '../../imports/business/audit/infrastructure/DocumentAuditStore';
import type { AuditEntry } from '../../imports/business/ai/domain/types/AuditEntries';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import { bindOperations } from '../../imports/host/bindOperations';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const NOW = Date.now();

function entry(id: string, change: Partial<AuditEntry> = {}): AuditEntry {
  return {
    _id: id,
    at: NOW,
    userId: 'ann',
    via: 'http',
    action: 'token.create',
    subject: { kind: 'token', ownerId: 'ann' },
    details: { name: 'CI' },
    address: '203.0.113.9',
    userAgent: 'Browser',
    outcome: 'begun',
    ...change,
  };
}

for (const [kind, open] of Object.entries(DATABASES))
  describe(
    `the stored audit trail (${kind})`,
    inFlowingTime(() => {
      let opened: TestDatabase;
      beforeEach(async () => {
        opened = await open();
      });
      afterEach(() => opened.close());

      const create = async (
        retentionMs?: number,
        maxEntries?: number,
        onRemoved?: (count: number) => void,
      ): Promise<DocumentAuditStore> => {
        const limits = {
          ...(retentionMs === undefined ? {} : { retentionMs }),
          ...(maxEntries === undefined ? {} : { maxEntries }),
        };
        const store = new DocumentAuditStore(opened.database, limits, onRemoved === undefined ? {} : { onRemoved });
        await store.ready();
        return store;
      };
      const all = async (store: DocumentAuditStore): Promise<readonly AuditEntry[]> =>
        (await store.page({}, { order: 'asc', limit: 200 })).entries;

      it('never changes an entry, but for the outcome of an act that has begun', async () => {
        const store = await create();
        await store.insert(entry('a'));
        expect(await failure(store.insert(entry('a', { userId: 'eve' })))).to.include({ code: 'conflict' });
        await store.end('a', { outcome: 'done', subjectId: 'T-1' });
        await store.end('a', { outcome: 'failed', error: 'conflict', subjectId: 'T-2' });
        expect(await all(store)).to.deep.equal([
          entry('a', { outcome: 'done', subject: { kind: 'token', id: 'T-1', ownerId: 'ann' } }),
        ]);
        const found = await store.page({ search: 't-1' }, { order: 'desc', limit: 1 });
        expect(found.total, 'by the id of what was created').to.equal(1);
      });

      it('is searched by admins for the acts of users, and for acts upon them, by name or address', async () => {
        const store = await create();
        await store.insert(entry('by', { userId: 'bob' }));
        await store.insert(entry('upon', { userId: 'root', subject: { kind: 'budget', id: 'bob' } }));
        await store.insert(entry('other'));
        const { 'ai.audit.list': list } = bindOperations(AUDIT_OPERATIONS, {
          auditEntries: store,
          searchAuditedUsers: (start) => Promise.resolve('bea@x.org'.startsWith(start) ? ['bob'] : []),
        });
        const found = async (actor: Actor, search: string): Promise<readonly string[]> =>
          (await list(actor, { search, order: 'asc' })).entries.map(({ _id }) => _id);
        const admin: Actor = { userId: 'root', isAdmin: true, source: 'http' };
        expect(await found(admin, 'bea@x')).to.deep.equal(['by', 'upon']);
        expect(await found(admin, 'b.a@x')).to.deep.equal([]);
        expect(await found({ userId: 'bob', source: 'http' }, 'bea@x'), 'of others').to.deep.equal([]);
      });

      it('forgets entries after their time, unless it is to keep them', async () => {
        const store = await create(1_000);
        const forever = await create(Infinity);
        await store.insert(entry('old', { at: NOW - 2_000 }));
        await store.insert(entry('new', { at: NOW + 3_600_000 }));
        await forever.insert(entry('kept', { at: 1 }));
        await opened.expire();
        await until(async () => (await all(store)).every(({ _id }) => _id !== 'old'));
        expect((await all(store)).map(({ _id }) => _id)).to.deep.equal(['kept', 'new']);
      });

      it('is bounded in number: those who do the most lose their oldest, and nobody else does', async () => {
        const removed: number[] = [];
        const store = await create(undefined, 20, (count) => removed.push(count));
        for (const id of ['b1', 'b2']) await store.insert(entry(id, { at: NOW - 1_000, userId: 'bob' }));
        for (let number = 10; number <= 60; number += 1)
          await store.insert(entry(`a${number}`, { at: NOW + number, outcome: 'done' }));
        const left = (await all(store)).map(({ _id }) => _id);
        expect(left.slice(0, 2)).to.deep.equal(['b1', 'b2']);
        expect(left.slice(2)).to.deep.equal(Array.from({ length: 18 }, (_, index) => `a${43 + index}`));
        expect(
          removed.reduce((sum, count) => sum + count, 0),
          'reported',
        ).to.equal(33);
      });

      it('keeps the acts of a deleted user under a pseudonym, the same in every process', async () => {
        const store = await create();
        const others = entry('4', { userId: 'bob', subject: { kind: 'budget', id: 'bob', ownerId: 'bob' } });
        await store.insert(entry('1', { at: NOW + 1, outcome: 'done' }));
        await store.insert(
          entry('2', { at: NOW + 2, userId: 'root', subject: { kind: 'budget', id: 'ann', ownerId: 'ann' } }),
        );
        await store.insert(entry('3', { at: NOW + 3, subject: { kind: 'routing_rule', id: 'fast' } }));
        await store.insert(others);
        expect(await store.pseudonymize('ann')).to.equal(3);
        const another = await create();
        await another.insert(entry('5', { at: NOW + 5 }));
        expect(await another.pseudonymize('ann')).to.equal(1);
        expect(await another.pseudonymize('ann'), 'again').to.equal(0);
        const [untouched, first, byRoot, ofNobody, later] = await all(store);
        expect(untouched).to.deep.equal(others);
        const pseudonym = first?.userId ?? '';
        expect(pseudonym).to.match(/^deleted-[\da-f]{16}$/);
        expect(first).to.deep.equal({
          ...{ _id: '1', at: NOW + 1, userId: pseudonym, via: 'http', action: 'token.create', outcome: 'done' },
          subject: { kind: 'token', ownerId: pseudonym },
        });
        expect(byRoot).to.deep.include({ userId: 'root', address: '203.0.113.9' });
        expect(byRoot?.subject).to.deep.equal({ kind: 'budget', id: pseudonym, ownerId: pseudonym });
        expect(ofNobody).to.deep.include({ userId: pseudonym, subject: { kind: 'routing_rule', id: 'fast' } });
        expect(later?.userId).to.equal(pseudonym);
        expect((await store.page({ search: 'ann' }, { order: 'asc', limit: 9 })).total).to.equal(0);
        expect((await store.page({ userId: pseudonym }, { order: 'asc', limit: 9 })).total).to.equal(3);
      });
    }),
  );
