/** Vendor accounts, with their credentials and sign-ins. */
import { defineFeature, nothingToOpen } from '../../host/Feature';
import { PROVIDER_OPERATIONS } from './application/operations/providerOperations';
import { PROVIDER_COLLECTIONS } from './collections';

export const providers = defineFeature({
  name: 'providers',
  collections: PROVIDER_COLLECTIONS,
  operations: PROVIDER_OPERATIONS,
  open: nothingToOpen,
  start: ({ providers: module, tokenUsage }) => ({
    services: { providers: module.administration },
    flush: () => tokenUsage.flush(),
    async removeUser(userId, keepsLimits) {
      const removed = { ...(await module.service.removeUser(userId)) };
      return keepsLimits ? removed : { ...removed, usageWindows: await module.removeUsage(userId) };
    },
    async close() {
      await tokenUsage.settled();
      module.close();
    },
  }),
});
