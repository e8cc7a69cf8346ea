/** Which methods are exposed only if they are named exactly: no `*` stands for them. */

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

/** Accounts' methods, private ones, mutators of collections such as `/orders/insert`, those for admins, and Bolide's. */
export function isReserved(name: string): boolean {
  if (ACCOUNTS.has(name) || name.startsWith('/') || name.startsWith('ai.')) return true;
  return name.split(/[.:/]/).some((part) => part.startsWith('_') || part.toLowerCase() === 'admin');
}
