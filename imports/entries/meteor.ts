/** `bolide/meteor`: Bolide on a Meteor app's server, with the app's objects handed in. */
export type { MeteorCheck, MeteorMatch, MeteorServer } from '../business/ai/domain/interfaces/MeteorServer';
export { MethodTools } from '../business/ai/infrastructure/tools/MethodTools';
export type { ExposedMethod, MethodToolsPackages } from '../business/ai/infrastructure/tools/MethodTools';
export type { MeteorDatabase } from '../database/meteor/MeteorDatabase';
export type { MeteorMongo } from '../database/meteor/MeteorMongo';
export type { ToolList } from '../business/ai/infrastructure/tools/toToolRegistry';
export type { Host } from '../startup/createHost';
export type {
  MeteorAccounts,
  MeteorApp,
  MeteorPackages,
  MeteorRateLimiter,
  MeteorWebApp,
} from '../startup/meteor/MeteorPackages';
export type { FindRoles } from '../startup/meteor/MeteorUsers';
export { startBolide } from '../startup/meteor/startBolide';
export type { BolideOptions, MeteorHost } from '../startup/meteor/startBolide';
