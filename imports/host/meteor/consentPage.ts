/** What the consent page takes of a Meteor app: its name and its style sheets. */
import type { ConsentPage } from '../../api/authorization/authorizationPages';
import { fieldsOf, isObjectList } from '../../business/ai/domain/util/json';
import type { ReadPackages } from './readPackages';

export function consentPage({
  Meteor,
  Accounts,
  WebApp,
}: Pick<ReadPackages, 'Meteor' | 'Accounts' | 'WebApp'>): ConsentPage {
  // Without a name of its own, Meteor's is the host, with the port.
  const { siteName = '' } = Accounts.emailTemplates ?? {};
  return {
    appName: siteName === '' ? new URL(Meteor.absoluteUrl()).host : siteName,
    // A hot reload of the client changes their addresses.
    styleSheets: () => {
      const { manifest } = fieldsOf(fieldsOf(WebApp.clientPrograms)['web.browser']);
      const files = isObjectList(manifest) ? manifest : [];
      return files.flatMap(({ type, where, url }) =>
        type === 'css' && where === 'client' && typeof url === 'string' ? [url] : [],
      );
    },
    // An address need not be verified for its owner to know it.
    nameOf: async (userId) => {
      const fields = { username: 1, 'emails.address': 1, 'profile.name': 1 };
      const { username, emails, profile } = (await Meteor.users.findOneAsync(userId, { fields })) ?? {};
      const name = profile?.name;
      return username ?? emails?.[0]?.address ?? (typeof name === 'string' ? name : undefined);
    },
  };
}
