/** `bolide/meteor`: Bolide on a Meteor app's server, with the app's objects handed in. */
import { requireNode } from '../library/requireNode';
export type { MeteorCheck, MeteorMatch, MeteorServer } from '../business/ai/domain/interfaces/MeteorServer';
export { MethodTools } from '../business/ai/infrastructure/tools/MethodTools';
export type { ExposedMethod, MethodToolsPackages } from '../business/ai/infrastructure/tools/MethodTools';
export type { MeteorDatabase } from '../database/meteor/MeteorDatabase';
export type { MeteorMongo } from '../database/meteor/MeteorMongo';
export type { ToolList } from '../business/ai/infrastructure/tools/toToolRegistry';
export type { Host } from '../host/createHost';
export type {
  MeteorAccounts,
  MeteorApp,
  MeteorPackages,
  MeteorRateLimiter,
  MeteorWebApp,
} from '../host/meteor/MeteorPackages';
export { exposeMethods } from '../host/meteor/expose/exposeMethods';
export type { ExposedDetails, ExposeOptions } from '../host/meteor/expose/exposeMethods';
export type { FindRoles } from '../host/meteor/MeteorUsers';
export { startBolide } from '../host/meteor/startBolide';
export type { BolideOptions, MeteorHost } from '../host/meteor/startBolide';
export type {
  EnqueuedJob,
  EnqueueOptions,
  JobDefinition,
  JobReport,
  JobRun,
  JobSchedule,
} from '../business/jobs/application/ServerJobs';

requireNode();
