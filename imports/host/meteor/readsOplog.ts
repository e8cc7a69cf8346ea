/** Whether MongoDB's oplog tells the observers of a Meteor app what other processes write. */
import { fieldsOf, isList } from '../../business/ai/domain/util/json';
import { installedPackage } from './installedPackage';

/** https://docs.meteor.com/performance/websites-and-scaling.html, and `packages/mongo` of Meteor */
export function readsOplog(
  environment: Readonly<Record<string, string | undefined>>,
  settings: Readonly<Record<string, unknown>>,
): boolean {
  if ((environment['MONGO_OPLOG_URL'] ?? '') === '' || installedPackage('disable-oplog') !== undefined) return false;
  // Since Meteor 3.5, the order in which it tries what it has.
  const { reactivity } = fieldsOf(fieldsOf(settings['packages'])['mongo']);
  const ofSettings = isList(reactivity) ? reactivity.join() : reactivity;
  const order = environment['METEOR_REACTIVITY_ORDER'] ?? ofSettings;
  return typeof order !== 'string' || order.split(',').some((name) => name.trim() === 'oplog');
}
