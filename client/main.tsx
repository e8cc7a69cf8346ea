/** Meteor's browser entry. */
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Tracker } from 'meteor/tracker';
import '../imports/ui/styles/page.css';
import '../imports/ui/dashboardStyles';
import { DASHBOARD_PAGES } from '../imports/ui/dashboardPages';
import { createMeteorData } from '../imports/ui/data/meteor/createMeteorData';
import { loadIcons } from '../imports/ui/loadIcons';
import { loadInter } from '../imports/ui/loadInter';
import { mountDashboard } from '../imports/ui/mountDashboard';

Meteor.startup(() => {
  // The path includes the prefix of ROOT_URL, if there is one.
  const { pathname: root } = new URL(Meteor.absoluteUrl());
  loadIcons(root);
  loadInter(`${root}bolide`);
  // While the server checks the session of a stored token.
  if (Meteor.loggingIn()) DASHBOARD_PAGES.preload();
  const place = document.getElementById('app');
  if (place !== null) mountDashboard(place, createMeteorData({ Meteor, Mongo, Tracker }), { path: root });
});
