import { expect } from 'chai';
import { describeAuditFilter, readAuditFilter } from '../../../../imports/ui/audit/auditFilter';

describe('the filter of the audit trail', () => {
  it('reads every parameter of the address', () => {
    const query = new URLSearchParams(
      'search=ci&action=token.create&kind=token&via=http&outcome=done&userId=ann&tokenId=t&subjectId=s&from=1&to=2',
    );
    expect(readAuditFilter(query)).to.deep.equal({
      search: 'ci',
      action: 'token.create',
      kind: 'token',
      via: 'http',
      outcome: 'done',
      userId: 'ann',
      tokenId: 't',
      subjectId: 's',
      from: 1,
      to: 2,
    });
  });

  it('ignores what is invalid, so that an old link still shows a list', () => {
    const query = new URLSearchParams('action=odd&kind=x&via=y&outcome=z&from=-1&other=1');
    expect(readAuditFilter(query)).to.deep.equal({});
    expect(describeAuditFilter(query)).to.deep.equal([]);
  });

  it('names each filter in effect by the parameter that removes it', () => {
    const query = new URLSearchParams(
      'search=x&outcome=refused&action=session.open&kind=session&via=dashboard&userId=ann',
    );
    expect(describeAuditFilter(query)).to.deep.equal([
      { name: 'search', label: 'Text: x' },
      { name: 'outcome', label: 'Refused' },
      { name: 'action', label: 'Sign in' },
      { name: 'kind', label: 'Sign-ins' },
      { name: 'via', label: 'Via Dashboard' },
      { name: 'userId', label: 'User: ann' },
    ]);
  });
});
