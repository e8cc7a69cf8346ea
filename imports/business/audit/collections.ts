/** What is stored of the audit trail. */
import { ownedBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { AUDIT, AUDIT_FIELDS, AUDIT_KEYS } from './infrastructure/DocumentAuditStore';

/** Whose else a subject is, and who else did something to it, is not theirs to learn. */
const { subject: _subject, ...OWN_ACT_FIELDS } = { ...AUDIT_FIELDS, 'subject.kind': 1, 'subject.id': 1 } as const;
const {
  userId: _userId,
  tokenId: _tokenId,
  via: _via,
  address: _address,
  userAgent: _userAgent,
  ...OTHERS_ACT_FIELDS
} = OWN_ACT_FIELDS;

export const AUDIT_COLLECTIONS = [
  {
    name: AUDIT,
    bound: 'entries',
    content: null,
    ofUsers: [
      {
        kind: 'auditEntries',
        owner: ownedBy('userId'),
        fields: OWN_ACT_FIELDS,
        isRemovedByService: true,
        isSmall: true,
      },
      {
        // Acts of others on what the user owns.
        kind: 'auditEntries',
        owner: { selector: (userId) => ({ 'subject.ownerId': userId, userId: { $ne: userId } }) },
        fields: OTHERS_ACT_FIELDS,
        isRemovedByService: true,
        isSmall: true,
      },
    ],
  },
  { name: AUDIT_KEYS, bound: 'operators', content: null, ofUsers: [] },
] as const satisfies readonly StoredCollection[];
