/** Which methods and publications are exposed only if they are named exactly: no `*` stands for them. */

/**
 * The methods of Meteor's accounts packages (packages/accounts-base/accounts_server.js, accounts-password,
 * accounts-passwordless, accounts-2fa), and of useraccounts.
 */
const ACCOUNTS: ReadonlySet<string> = new Set([
  'login',
  'logout',
  'logoutAllClients',
  'logoutOtherClients',
  'getNewToken',
  'removeOtherTokens',
  'configureLoginService',
  'changePassword',
  'forgotPassword',
  'resetPassword',
  'verifyEmail',
  'createUser',
  'requestLoginTokenForUser',
  'generate2faActivationQrCode',
  'enableUser2fa',
  'disableUser2fa',
  'has2faEnabled',
  'ATRemoveToken',
  'ATCreateUserServer',
]);

/** Names that Meteor and Bolide give: `/orders/insert`, `meteor.loginServiceConfiguration`, `ai.status`. */
const FOREIGN = /^(?:\/|meteor[._]|ai\.)/;

/** Names of accounts, of Meteor and of Bolide, private ones and those for admins. */
export function isReserved(name: string): boolean {
  if (ACCOUNTS.has(name) || FOREIGN.test(name)) return true;
  return name.split(/[.:/]/).some((part) => part.startsWith('_') || part.toLowerCase() === 'admin');
}
