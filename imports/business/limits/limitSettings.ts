/** What one user may do in a minute and at a time. */
import { defineSettings, setting } from '../../host/settings/defineSettings';
import { integer } from '../../host/settings/settingReaders';

const limit = integer({ min: 1 }, { '0': Infinity });

export const limitSettings = defineSettings({
  userLimits: {
    requestsPerMinute: setting('USER_REQUESTS_PER_MINUTE', limit, '`1200`').means(
      'HTTP requests, messages on WebSockets, Meteor methods and subscriptions.',
    ),
    tokensPerMinute: setting('USER_TOKENS_PER_MINUTE', limit, '`0`').means(
      'Tokens of model calls, whatever starts them.',
    ),
    parallelCalls: setting('USER_PARALLEL_CALLS', limit, '`64`').means(
      'HTTP requests, messages on WebSockets and Meteor methods in progress.',
    ),
    connections: setting('USER_CONNECTIONS', limit, '`64`').means(
      'Open streams of events, WebSockets and Meteor subscriptions.',
    ),
    queuedMessages: setting('USER_QUEUED_MESSAGES', limit, '`1000`').means(
      'Messages that `POST /api/input` has accepted and that are not answered yet.',
    ),
  },
});
