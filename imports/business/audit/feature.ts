/** The audit trail: who did what. */
import { defineFeature, nothingToOpen } from '../../host/Feature';
import { AUDIT_OPERATIONS } from './application/auditOperations';
import { AUDIT_COLLECTIONS } from './collections';
import { openAudit } from './openAudit';

export const audit = defineFeature({
  name: 'audit',
  collections: AUDIT_COLLECTIONS,
  operations: AUDIT_OPERATIONS,
  open: nothingToOpen,
  async start({ settings, database, logger, notify, runs, providers, searchUsers }) {
    const opened = await openAudit({
      database,
      logger,
      onChange: (userId) => notify('audit', userId),
      ownerOfRun: runs.ownerOf,
      providers: providers.service,
      limits: settings.auditLimits ?? {},
      forwardedCount: settings.forwardedCount ?? 0,
    });
    return {
      services: { auditEntries: opened.entries, searchAuditedUsers: searchUsers },
      opened,
      flush: () => opened.trail.settled(),
      async pseudonymizeUser(userId) {
        await opened.trail.settled();
        await opened.pseudonymize(userId);
      },
      close: () => opened.trail.settled(),
    };
  },
});
