/** How long entries of the audit trail are kept, and how many. */
import { defineSettings, setting } from '../../host/settings/defineSettings';
import { DAYS, integer, number } from '../../host/settings/settingReaders';

export const auditSettings = defineSettings({
  auditLimits: {
    retentionMs: setting(
      'AUDIT_KEEP_DAYS',
      number({ above: 0, max: 36_500, unit: DAYS }, { never: Infinity, '0': Infinity }),
      '`365`',
    ).means(
      'Days after which an entry of the [audit trail](../guides/audit.md) is removed; `never` or `0` keeps all. A change applies to new entries.',
    ),
    maxEntries: setting(
      'AUDIT_MAX_ENTRIES',
      integer({ min: 1 }, { unlimited: Infinity }),
      'in the embedded database, what a tenth of the heap holds, about 14,000 with 512 MB and 54,000 with 2 GB; 1,000,000 in MongoDB',
    ).means(
      'The most entries; `unlimited` keeps all until they expire. Users who have the most lose their oldest first, which the log says as a warning.',
    ),
  },
});
