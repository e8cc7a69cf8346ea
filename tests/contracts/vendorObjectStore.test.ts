/** The contract of every store of vendors' objects: who created which, and for how long it is remembered. */
import { expect } from 'chai';
import type { VendorObjectStore } from '../../imports/business/ai/domain/interfaces/VendorObjectStore';
import {
  openVendorObjects,
  VENDOR_OBJECTS,
} from '../../imports/business/ai/infrastructure/persistence/vendorObjects/DocumentVendorObjects';
import type { VendorObjectDocument } from '../../imports/business/ai/infrastructure/persistence/vendorObjects/DocumentVendorObjects';
import { MemoryVendorObjects } from '../../imports/business/ai/infrastructure/persistence/vendorObjects/MemoryVendorObjects';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { until } from '../support/until';

type OpenDatabase = () => Promise<TestDatabase>;
const STORES: Readonly<Record<string, OpenDatabase | undefined>> = { memory: undefined, ...DATABASES };
const LONG_AGO = new Date(Date.now() - 31 * 24 * 3_600_000);

for (const [name, open] of Object.entries(STORES))
  describe(`vendors' objects in ${name}`, () => {
    let opened: TestDatabase | undefined;
    let store: VendorObjectStore;
    before(async () => {
      opened = await open?.();
      store = opened === undefined ? new MemoryVendorObjects() : await openVendorObjects(opened.database);
    });
    after(() => opened?.close());

    it('belong to the user who created them, at a provider', async () => {
      await store.record('ann', ['file-1', 'file-2'], { providerId: 'first', isKept: true });
      await store.record('ann', ['msg-1']);
      await store.record('bob', ['file-3'], { providerId: 'second' });
      expect(await store.isOwner('ann', 'file-1')).to.equal(true);
      expect(await store.isOwner('bob', 'file-1')).to.equal(false);
      expect(await store.find('ann', 'file-2')).to.deep.include({ providerId: 'first' });
      expect(await store.find('ann', 'msg-1')).to.not.have.property('providerId');
      expect(await store.find('ann', 'file-3')).to.equal(undefined);
      const ids = ['file-1', 'msg-1', 'file-3', 'unknown'];
      expect(await store.ownedAmong('ann', ids)).to.deep.equal(new Set(['file-1', 'msg-1']));
      expect(await store.ownedAmong('ann', [])).to.deep.equal(new Set());
    });

    it('are recorded again without a loss', async () => {
      await store.record('ann', ['file-4'], { providerId: 'first', isKept: true });
      await Promise.all([store.record('ann', ['file-4']), store.record('ann', ['file-4'])]);
      expect(await store.find('ann', 'file-4')).to.include({ providerId: 'first', isKept: true });
      await store.record('ann', ['file-5']);
      await store.record('ann', ['file-5'], { providerId: 'second', isKept: true });
      expect(await store.find('ann', 'file-5')).to.include({ providerId: 'second', isKept: true });
    });

    it('are forgotten once they are removed', async () => {
      await store.record('ann', ['file-6'], { isKept: true });
      await store.record('bob', ['file-6'], { isKept: true });
      await store.remove('ann', ['file-6']);
      expect(await store.isOwner('ann', 'file-6')).to.equal(false);
      expect(await store.isOwner('bob', 'file-6')).to.equal(true);
    });

    if (open !== undefined)
      it('expire unless their vendor keeps them', async () => {
        await store.record('cy', ['kept'], { isKept: true });
        await store.record('cy', ['seen']);
        const documents = opened!.database.collection<VendorObjectDocument>(VENDOR_OBJECTS);
        await documents.update({ userId: 'cy', seenAt: { $exists: true } }, { $set: { seenAt: LONG_AGO } });
        expect(await store.isOwner('cy', 'seen')).to.equal(false);
        await opened!.expire();
        await until(async () => (await documents.count({ userId: 'cy' })) === 1);
        expect(await store.ownedAmong('cy', ['kept', 'seen'])).to.deep.equal(new Set(['kept']));
      });
  });
