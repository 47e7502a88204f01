// Distances on a sphere with the earth's mean radius, and rectangles of a map.
#pragma once

#include "../query/query_plan.h"

namespace gannet {

inline constexpr double kEarthRadiusMetres = 6'371'008.8;

// Returns the great-circle distance in metres (haversine: well-conditioned for small distances, which are the usual
// ones).
double DistanceMetres(const GeoPoint& from, const GeoPoint& to);

// The points within a distance of a centre, with a cheap test before the trigonometry. Correct across the antimeridian
// and at the poles.
class GeoCircle {
 public:
  GeoCircle(const GeoPoint& centre, double metres);
  bool Contains(const GeoPoint& point) const;

 private:
  GeoPoint centre_;
  double metres_;
  double latitude_reach_;   // degrees
  double longitude_reach_;  // degrees; 180 if the circle contains a pole
};

// The points between two parallels and two meridians, all of them included. Borders are rounded to the steps in which
// points are stored: otherwise a point that is given as a border would be outside whenever it is rounded outwards.
class GeoBox {
 public:
  // `west` and `east` within [-360, 360]. If `west` is greater, the box crosses the antimeridian.
  GeoBox(const GeoPoint& south_west, const GeoPoint& north_east);
  bool Contains(const GeoPoint& point) const;

 private:
  // Whole numbers of steps.
  double south_;
  double north_;
  double west_;
  double width_;  // from west_ eastwards; a turn for all longitudes
};

}  // namespace gannet
