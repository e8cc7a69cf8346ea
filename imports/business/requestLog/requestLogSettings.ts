/** Whether model calls are logged, with what, and how long. */
import { defineSettings, setting } from '../../host/settings/defineSettings';
import { DAYS, integer, number, onOff } from '../../host/settings/settingReaders';

const days = number({ above: 0, max: 3_650, unit: DAYS });

export const requestLogSettings = defineSettings({
  requestLog: {
    isEnabled: setting('REQUEST_LOG', onOff, '`on`').means('`off` logs no model calls.'),
    bodies: setting('REQUEST_LOG_BODIES', onOff, '`off`').means(
      "`on` also stores what was sent and received, in `ai_request_bodies`, both in Bolide's format and, for the last five attempts, as it was sent to the vendor and came back: with secrets masked, without headers, and at most 256 KiB of JSON each.",
    ),
    retention: {
      entries: setting('REQUEST_LOG_KEEP_DAYS', days, '`30`').means('Days after which an entry is removed.'),
      bodies: setting('REQUEST_LOG_BODIES_KEEP_DAYS', days, '`7`').means('Days after which its bodies are removed.'),
    },
    maxEntries: setting(
      'REQUEST_LOG_MAX_ENTRIES',
      integer({ min: 1 }),
      'in the embedded database, what a third of the heap holds, about 45,000 with 512 MB and 170,000 with 2 GB; none in MongoDB',
    ).means('The most entries. Users who have the most lose their oldest first; usage reports lack what is removed.'),
  },
});
