/** The policy of a host that brings none: deny by default. */
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';

export const adminsOnly: AccessPolicy = {
  decide: ({ isAdmin, source }, { providerId }) =>
    Promise.resolve(
      isAdmin === true || source === 'job'
        ? { allowed: true }
        : { allowed: false, reason: `You may not use the provider '${providerId}'.` },
    ),
};
