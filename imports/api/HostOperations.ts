/**
 * The operations of a host by name, the same for every transport: in Meteor each is a method of that name, over HTTP a
 * route of its area's folder calls it.
 *
 * To add an area: add its interface here, its object to `createHostOperations.ts`, and the function that adds its
 * routes to `OPERATION_ROUTES` in `routes.ts`.
 */
import type { DefinedOperations } from '../host/operations';
import type { TokenOperations } from './tokens/TokenOperations';

export type HostOperations = TokenOperations & DefinedOperations;
