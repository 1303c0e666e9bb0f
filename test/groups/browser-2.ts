import { runAreas } from '../groups.ts';

runAreas(['browser', 'client'], 2, 3);
