import { expect } from 'chai';
import sinon from 'sinon';
import { SendGuard } from '../../../../../../imports/business/ai/application/services/SendGuard';
import { VendorObjects } from '../../../../../../imports/business/ai/application/services/VendorObjects';
import { OwnedObjectsProvider } from '../../../../../../imports/business/ai/application/services/vendorObjects/OwnedObjectsProvider';
import type { VendorObjectStore } from '../../../../../../imports/business/ai/domain/interfaces/VendorObjectStore';
import { ScriptedProvider } from '../../../../../../imports/testing/ScriptedProvider';
import { answer } from '../../../../../../imports/testing/responses';

/** The ids that are recorded as the user's after a call that made a container. */
async function recordedAfter(isOwnAccount: boolean | undefined): Promise<readonly string[]> {
  const record = sinon.fake.resolves(undefined);
  const store = { record } as unknown as VendorObjectStore;
  const objects = new VendorObjects({
    store,
    responses: { find: async () => undefined, findItem: async () => undefined },
    sharedOf: () => [],
  });
  const guard = new SendGuard({ objects, access: undefined, tokens: undefined, allowedModelsOf: () => undefined });
  const made = answer('Done.');
  const scripted = new ScriptedProvider([
    async ({ onSend }) => {
      if (isOwnAccount !== undefined)
        await onSend?.({ providerId: 'anthropic', isOwnAccount, objects: [], hostedTools: [], models: [] });
      return {
        ...made,
        vendor: {
          ...made.vendor,
          name: 'anthropic',
          wire: 'anthropic_messages',
          fields: { container: { id: 'container_1' } },
        },
      };
    },
  ]);
  const provider = new OwnedObjectsProvider(Object.assign(scripted, { defaultModel: 'm' }), guard);
  await provider.generate('ann', { input: 'Hi', origin: { source: 'gateway', ownObjectsOnly: true } });
  return record.args.flatMap(([, ids]) => ids as readonly string[]);
}

describe('What a response has made at its vendor', () => {
  it('is recorded as the user’s if it is in an account that users share', async () => {
    expect(await recordedAfter(false)).to.deep.equal(['container_1']);
  });

  it('is not in the user’s own account, whose ids may name what others have in the shared one', async () => {
    expect(await recordedAfter(true)).to.deep.equal([]);
  });

  it('is nothing if the response was not asked of a vendor', async () => {
    expect(await recordedAfter(undefined)).to.deep.equal([]);
  });
});
