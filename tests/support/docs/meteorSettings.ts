/** Settings of Meteor and its hosts that the documentation names and the project's code does not read. */
export const METEOR_SETTINGS: ReadonlySet<string> = new Set([
  'MONGO_OPLOG_URL',
  'METEOR_REACTIVITY_ORDER',
  'METEOR_OPLOG_TOO_FAR_BEHIND',
  'METEOR_POLLING_THROTTLE_MS',
  'METEOR_POLLING_INTERVAL_MS',
  'DISABLE_WEBSOCKETS',
  'USE_JSESSIONID',
  'disableOplog',
  'METEOR_SIGTERM_GRACE_PERIOD_SECONDS',
  'stickySessions',
]);
