import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Tracker } from 'meteor/tracker';
import { createMeteorData } from '../../../../../imports/ui/data/meteor/createMeteorData';
import { createMeteorHelpers } from '../../../../../imports/ui/data/meteor/createMeteorHelpers';
import { MeteorSource } from '../../../../../imports/ui/data/meteor/MeteorSource';

describe('MeteorSource', () => {
  const packages = { Meteor: { ...Meteor, status: () => ({ status: 'connected' }) }, Mongo, Tracker } as never;

  it('is shared by everything that is created for the same Meteor', () => {
    expect(MeteorSource.of(packages)).to.equal(MeteorSource.of({ ...(packages as object) } as never));
  });

  it('names every missing or wrong object with its import', () => {
    for (const create of [createMeteorData, createMeteorHelpers]) {
      expect(() => create({} as never))
        .to.throw(TypeError)
        .with.property('message')
        .that.contains("Meteor is missing: import { Meteor } from 'meteor/meteor';")
        .and.contains("Tracker is missing: import { Tracker } from 'meteor/tracker';");
      expect(() => create(undefined as never)).to.throw(TypeError, "import { Mongo } from 'meteor/mongo';");
      expect(() => create({ ...(packages as object), Meteor: { ...Meteor, subscribe: undefined } } as never)).to.throw(
        TypeError,
        'Meteor has no subscribe',
      );
      expect(() => create({ ...(packages as object), Mongo: {} } as never)).to.throw(
        TypeError,
        'Mongo has no Collection',
      );
    }
  });
});
