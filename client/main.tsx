/** Meteor's browser entry. */
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Tracker } from 'meteor/tracker';
import '../imports/ui/styles/page.css';
import '../imports/ui/dashboardStyles';
import { createMeteorData } from '../imports/ui/data/meteor/createMeteorData';
import { loadInter } from '../imports/ui/loadInter';
import { mountDashboard } from '../imports/ui/mountDashboard';

Meteor.startup(() => {
  // The path includes the prefix of ROOT_URL, if there is one.
  loadInter(new URL(Meteor.absoluteUrl('bolide')).pathname);
  const place = document.getElementById('app');
  if (place !== null) mountDashboard(place, createMeteorData({ Meteor, Mongo, Tracker }));
});
